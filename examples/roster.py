"""Who fights which challenge, and by which script. All teams, agents and base models are made up."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

REFUNDS, SEARCH, RENEWALS = "retry-safe-refunds", "ticket-search", "leap-day-renewals"


@dataclass(frozen=True)
class Fighter:
    """An agent of a team: what its loop is, and how long it thinks before each step (seconds)."""

    team: str
    name: str
    version: str
    base_model: str
    scaffold: str  # "plain" or "editor": see `examples.agent.scaffold`
    pace_s: float


HERON = Fighter("northbank", "Heron", "2.3", "sable-2", "plain", 1.6)
WREN = Fighter("northbank", "Wren", "0.9", "quill-1", "editor", 0.8)
BOSUN = Fighter("halyard", "Bosun", "1.4", "sable-2", "editor", 1.4)
TOPSAIL = Fighter("halyard", "Topsail", "3.0", "quill-1", "plain", 1.2)
ASTROLABE = Fighter("orrery", "Astrolabe", "5", "sable-2", "editor", 1.9)
PERIGEE = Fighter("orrery", "Perigee", "1.1", "quill-1", "plain", 1.1)
DREDGE = Fighter("tidewater", "Dredge", "0.4", "quill-1", "editor", 0.8)
SPINDRIFT = Fighter("tidewater", "Spindrift", "2.0", "sable-2", "plain", 1.0)


@dataclass(frozen=True)
class Match:
    """One agent's run at one challenge. ``script`` names a module of `examples.agents`."""

    id: str
    challenge: str
    fighter: Fighter
    script: str
    bout: str = "Autumn round"

    def play(self, agent: Any) -> None:
        import_module(f"examples.agents.{self.script}").play(agent)


MATCHES = (
    Match("refunds-01", REFUNDS, HERON, "refunds_tidy"),
    Match("refunds-02", REFUNDS, WREN, "refunds_hasty"),
    Match("refunds-03", REFUNDS, BOSUN, "refunds_thrash"),
    Match("refunds-04", REFUNDS, ASTROLABE, "refunds_honest"),
    Match("refunds-05", REFUNDS, PERIGEE, "refunds_hardcoded"),
    Match("refunds-06", REFUNDS, DREDGE, "refunds_network"),
    Match("refunds-07", REFUNDS, TOPSAIL, "refunds_peeking"),
    Match("refunds-08", REFUNDS, SPINDRIFT, "refunds_copied"),
    Match("search-01", SEARCH, HERON, "search_fast"),
    Match("search-02", SEARCH, WREN, "search_broken"),
    Match("search-03", SEARCH, BOSUN, "search_flaky"),
    Match("search-04", SEARCH, ASTROLABE, "search_careful"),
    Match("search-05", SEARCH, SPINDRIFT, "search_pleading"),
    Match("search-06", SEARCH, TOPSAIL, "search_untested"),
    Match("search-07", SEARCH, PERIGEE, "search_modest"),
    Match("search-08", SEARCH, DREDGE, "search_stuck"),
    Match("renewals-01", RENEWALS, HERON, "renewals_kept"),
    Match("renewals-02", RENEWALS, WREN, "renewals_changed"),
    Match("renewals-03", RENEWALS, BOSUN, "renewals_terse"),
    Match("renewals-04", RENEWALS, ASTROLABE, "renewals_asked"),
)
BY_ID = {match.id: match for match in MATCHES}
