"""The folder that contents are kept in."""

from __future__ import annotations

import tempfile
from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage


class ContentFolder(FileSystemStorage):
    """A folder in which a name exists only once its content is whole.

    Names are digests: whoever finds one takes its content on trust, also after a crash in
    the middle of writing it.
    """

    def _save(self, name: str, content: File) -> str:
        path = Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as part:
            try:
                for block in content.chunks():
                    part.write(block)
                part.close()
                Path(part.name).chmod(self.file_permissions_mode or 0o640)
                Path(part.name).replace(path)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise
        return name
