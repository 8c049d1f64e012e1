"""Static files that come with Python packages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage


class PlotlyFinder(BaseFinder):
    """Serve the one script that the plotly package ships, as ``plotly/plotly.min.js``.

    Its folder as a STATICFILES_DIRS entry would publish nine megabytes more.
    """

    prefix = "plotly"
    name = "plotly.min.js"

    def __init__(self, *args: object, **kwargs: object) -> None:
        # Found without importing plotly, which would slow every start.
        package = Path(find_spec("plotly").origin).parent
        self.storage = FileSystemStorage(location=package / "package_data")
        self.storage.prefix = self.prefix

    def find(self, path: str, find_all: bool = False) -> str | list[str]:
        if path != f"{self.prefix}/{self.name}":
            return []
        found = self.storage.path(self.name)
        return [found] if find_all else found

    def list(self, ignore_patterns: object) -> Iterator[tuple[str, FileSystemStorage]]:
        yield self.name, self.storage
