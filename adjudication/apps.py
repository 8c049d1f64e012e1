from django.apps import AppConfig


class AdjudicationConfig(AppConfig):
    name = "adjudication"

    def ready(self) -> None:
        from adjudication import receivers  # noqa: F401
        from adjudication.blindness import dark_matches
        from adjudication.models import Case
        from adjudication.reviews import review_of
        from bouts.backends import counted
        from bouts.disclosure import blindfolds, contests
        from judging.sight import reviews

        counted["unsettled_cases"] = Case.objects.unsettled_of_reviewer
        blindfolds.append(dark_matches)
        contests.append(Case.objects.contested_matches)
        reviews.append(review_of)
