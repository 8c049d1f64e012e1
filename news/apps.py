from django.apps import AppConfig


class NewsConfig(AppConfig):
    name = "news"

    def ready(self) -> None:
        from bouts.backends import counted
        from news import receivers  # noqa: F401
        from news.models import unread_of

        counted["unread_notices"] = unread_of
