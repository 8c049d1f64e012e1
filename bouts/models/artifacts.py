"""What a bundle holds: files by content, and what the readers made of them."""

from __future__ import annotations

from django.db import models

from bouts.models.matches import Bundle


class Blob(models.Model):
    """A file's content, stored once under its SHA-256, compressed with zstd."""

    digest = models.CharField(max_length=64, primary_key=True)
    size = models.BigIntegerField()  # uncompressed
    stored_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.digest[:12]

    @property
    def storage_name(self) -> str:
        return f"{self.digest[:2]}/{self.digest}.zst"


class Artifact(models.Model):
    """One file of a bundle and how it was read."""

    class State(models.TextChoices):
        READ = "read", "read"
        UNREADABLE = "unreadable", "unreadable"
        STORED = "stored", "stored"  # kept as it came: a kind that no reader turns into values

    bundle = models.ForeignKey(Bundle, on_delete=models.CASCADE, related_name="artifacts")
    path = models.CharField(max_length=500)
    kind = models.CharField(max_length=12)
    suite = models.CharField(max_length=10, blank=True)
    run = models.PositiveIntegerField(null=True)
    log = models.CharField(max_length=500, blank=True)  # path of the log of a test run
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="artifacts")
    state = models.CharField(max_length=10, choices=State)
    format = models.CharField(max_length=40, blank=True)
    format_version = models.CharField(max_length=40, blank=True)
    reader_version = models.PositiveSmallIntegerField(null=True)
    reason = models.TextField(blank=True)  # why it is unreadable
    place = models.CharField(max_length=200, blank=True)  # where: "line 12"
    clock = models.CharField(max_length=10, blank=True)
    origin = models.CharField(max_length=40, blank=True)
    counts = models.JSONField(default=dict)
    notes = models.JSONField(default=list)  # [{"text": ..., "place": ...}]
    facts = models.JSONField(default=dict)

    class Meta:
        ordering = ["path"]
        constraints = [
            models.UniqueConstraint(fields=["bundle", "path"], name="one_artifact_per_path"),
        ]

    def __str__(self) -> str:
        return self.path

    @property
    def is_readable(self) -> bool:
        return self.state == self.State.READ

    @property
    def continues(self) -> str:
        """The path of the telemetry that this goes on with; empty where it begins a run."""
        return str(self.facts.get("continues", ""))

    @property
    def events_before(self) -> int:
        """How many events of the same run the files before it have."""
        return int(self.facts.get("events_before", 0))


class Chunk(models.Model):
    """A few hundred of a reader's values in one row: zstd-compressed JSON lines.

    A page reads only the chunk that it shows, so a long match costs no more than a short one.
    ``first`` and ``last`` are event sequences, or ordinals from 1 for values without one.
    """

    artifact = models.ForeignKey(Artifact, on_delete=models.CASCADE, related_name="chunks")
    first = models.BigIntegerField()
    last = models.BigIntegerField()
    count = models.PositiveIntegerField()
    payload = models.BinaryField()

    class Meta:
        ordering = ["artifact", "first"]
        constraints = [
            models.UniqueConstraint(fields=["artifact", "first"], name="one_chunk_per_start"),
        ]

    def __str__(self) -> str:
        return f"{self.artifact} {self.first}–{self.last}"


class TestResult(models.Model):
    """One test in one run. Written with COPY."""

    __test__ = False  # not a test class, whatever pytest thinks

    artifact = models.ForeignKey(Artifact, on_delete=models.CASCADE, related_name="test_results")
    ordinal = models.PositiveIntegerField()
    test_id = models.TextField()
    outcome = models.CharField(max_length=8)
    severity = models.CharField(max_length=12, blank=True)
    duration_s = models.FloatField(null=True)
    message = models.TextField(blank=True)
    log = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=1)
    flaky = models.BooleanField(default=False)
    crash = models.TextField(blank=True)

    class Meta:
        ordering = ["artifact", "ordinal"]
        indexes = [models.Index(fields=["artifact", "test_id"])]

    def __str__(self) -> str:
        return f"{self.test_id} {self.outcome}"
