from django.apps import AppConfig


class AdjudicationConfig(AppConfig):
    name = "adjudication"

    def ready(self) -> None:
        from adjudication import receivers  # noqa: F401
        from adjudication.blindness import dark_matches
        from adjudication.models import Case
        from bouts.disclosure import blindfolds, contests

        blindfolds.append(dark_matches)
        contests.append(Case.objects.contested_matches)
