from django.apps import AppConfig


class AdjudicationConfig(AppConfig):
    name = "adjudication"

    def ready(self) -> None:
        from adjudication import receivers  # noqa: F401
        from adjudication.blindness import blindfold
        from bouts.disclosure import blindfolds

        blindfolds.append(blindfold)
