from django.apps import AppConfig


class BoutsConfig(AppConfig):
    name = "bouts"

    def ready(self) -> None:
        # Binds shared tasks to our app. Not in __init__: readers and scoring need no Celery.
        from bouts import celery  # noqa: F401
