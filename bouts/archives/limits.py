"""How large an upload may be. ``Limits(**settings.BUNDLE_LIMITS)`` gives an installation's own."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1_000_000

# Under this size a high compression ratio is no bomb, only a small file that repeats itself.
RATIO_FLOOR = 64 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """DESIGN.md, "A bundle". Each bound also holds for a declared archive inside the upload.

    ``bundle_bytes`` bounds the upload as it comes and, apart from that, what it unpacks to.
    """

    bundle_bytes: int = 512 * MEGABYTE
    members: int = 5_000
    member_bytes: int = 100 * MEGABYTE
    ratio: int = 200
    document_bytes: int = 4 * MEGABYTE  # a JSON document that is read as a whole

    @property
    def bundle(self) -> str:
        return f"At most {size(self.bundle_bytes)} (BOUTS_MAX_BUNDLE_MB)"

    @property
    def count(self) -> str:
        return f"At most {self.members:,} members (BOUTS_MAX_MEMBERS)"

    @property
    def member(self) -> str:
        return f"At most {size(self.member_bytes)} a member (BOUTS_MAX_MEMBER_MB)"

    @property
    def compression(self) -> str:
        return f"At most {self.ratio} times smaller when packed (BOUTS_MAX_RATIO)"

    @property
    def document(self) -> str:
        return f"At most {size(self.document_bytes)} in a JSON document"

    def is_bomb(self, unpacked: int, packed: int) -> bool:
        """Say whether so many bytes from so few are more than honest compression gives."""
        return unpacked > RATIO_FLOOR and unpacked > self.ratio * packed


def size(count: int) -> str:
    """Return a number of bytes as people read it: ``38.2 MB``, ``412 bytes``."""
    if count < 1_000:
        return f"{count} byte{'s' * (count != 1)}"
    if count < MEGABYTE:
        return f"{count / 1_000:.1f} kB"
    return f"{count / MEGABYTE:,.1f} MB".replace(".0 MB", " MB")
