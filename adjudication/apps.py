from django.apps import AppConfig


class AdjudicationConfig(AppConfig):
    name = "adjudication"

    def ready(self) -> None:
        from adjudication import receivers  # noqa: F401
        from adjudication.blindness import dark_matches
        from bouts.disclosure import blindfolds

        blindfolds.append(dark_matches)
