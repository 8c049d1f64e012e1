"""Fingerprints of added code in the database, and which matches share how much of them."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from django.db import transaction

from bouts.models import Bundle
from bouts.prepared import run
from judging.judges.base import Dossier, Peer
from judging.judges.detectors import record_of
from judging.judges.detectors.plagiarism import marks_of
from judging.judges.detectors.winnowing import FEWEST, VERSION, hashes
from judging.models import Finding, FingerprintHash, Step
from judging.scoring.policy import Policy

logger = logging.getLogger(__name__)

MOST_PEERS = 20
LEAST_SIMILAR = 0.3  # that is worth showing to staff
# Of a stretch that more have it says little, and is put down to those that came first: so the
# work does not grow with the matches of a challenge.
MOST_OF_A_HASH = 50
MOST_COMPARED = 200  # in full, those with most hashes in common

# One query for all. Each hash is looked up in the primary key, in the order in which bundles
# came in; those that share most are then compared in full, their arrays in the database, and
# only what both have comes back.
_PEERS = """
    WITH print AS MATERIALIZED (
           SELECT challenge_id, version, hashes, cardinality(hashes) AS count
             FROM judging_fingerprint WHERE bundle_id = %(bundle)s
         ),
         asked AS MATERIALIZED (SELECT unnest(hashes) AS hash FROM print),
         own AS MATERIALIZED (
           SELECT bundle.id
             FROM bouts_bundle bundle
             JOIN bouts_match match ON match.id = bundle.match_id
             JOIN bouts_agent agent ON agent.id = match.agent_id
            WHERE match.challenge_id = (SELECT challenge_id FROM print)
              AND agent.team_id = %(team)s AND agent.name = %(name)s
         ),
         candidate AS MATERIALIZED (
           SELECT found.fingerprint_id AS id
             FROM print
            CROSS JOIN asked
            CROSS JOIN LATERAL (
                  SELECT fingerprint_id
                    FROM judging_fingerprinthash
                   WHERE challenge_id = print.challenge_id AND version = print.version
                     AND hash = asked.hash AND fingerprint_id NOT IN (SELECT id FROM own)
                   ORDER BY fingerprint_id
                   LIMIT %(of_a_hash)s
                  ) found
            GROUP BY found.fingerprint_id
            ORDER BY count(*) DESC, found.fingerprint_id
            LIMIT %(compared)s
         )
    SELECT bundle.id, match.slug,
           (bundle.finished_at, bundle.id) < (%(finished)s, %(bundle)s),
           shared.hashes,
           cardinality(shared.hashes)::float / least(cardinality(f.hashes), print.count) AS likeness
      FROM print
     CROSS JOIN candidate
      JOIN judging_fingerprint f ON f.bundle_id = candidate.id
      JOIN bouts_bundle bundle ON bundle.id = f.bundle_id AND bundle.is_live
      JOIN bouts_match match ON match.id = bundle.match_id
     CROSS JOIN LATERAL (
           SELECT array_agg(one) AS hashes FROM unnest(f.hashes) one WHERE one IN (TABLE asked)
           ) shared
     WHERE cardinality(shared.hashes) >= %(least)s * least(cardinality(f.hashes), print.count)
     ORDER BY likeness DESC, bundle.id
     LIMIT %(most)s
"""

# As rows of a model these would be a thousand objects for one statement.
_STORE = """
    WITH made AS (
           INSERT INTO judging_fingerprint (bundle_id, challenge_id, version, hashes)
           VALUES (%(bundle)s, %(challenge)s, %(version)s, %(hashes)s)
               ON CONFLICT DO NOTHING
         )
    INSERT INTO judging_fingerprinthash (challenge_id, version, hash, fingerprint_id)
    SELECT %(challenge)s, %(version)s, hash, %(bundle)s FROM unnest(%(hashes)s::bigint[]) hash
        ON CONFLICT DO NOTHING
"""


def store(bundle: Bundle, dossier: Dossier, policy: Policy) -> None:
    """Write down what a bundle's added code is recognised by. A second time changes nothing.

    Where that fails nobody is held up: the detector fails over the same code and says so.
    """
    try:
        found = hashes(marks_of(record_of(dossier, (), policy)))
    except Exception:
        logger.exception("no fingerprints of %s", bundle)
        return
    if len(found) < FEWEST:
        return
    with transaction.atomic(savepoint=False):
        if bundle.number > 1:
            # What is superseded is compared with no more, and takes up no place.
            superseded = bundle.match.bundles.exclude(pk=bundle.pk).filter(is_live=False)
            FingerprintHash.objects.filter(fingerprint__in=superseded.values("pk")).delete()
        run(
            _STORE,
            {
                "bundle": bundle.pk,
                "challenge": bundle.match.challenge_id,
                "version": VERSION,
                "hashes": sorted(found),
            },
        )


def peers(bundle: Bundle) -> Sequence[Peer]:
    """Return the matches of other agents on the same challenge that share code, most first.

    Another version of the same agent is no other agent. The match that was finished earlier is
    the source, whichever was uploaded first.
    """
    agent = bundle.match.agent
    found = run(
        _PEERS,
        {
            "finished": bundle.finished_at,
            "bundle": bundle.pk,
            "team": agent.team_id,
            "name": agent.name,
            "least": LEAST_SIMILAR,
            "most": MOST_PEERS,
            "of_a_hash": MOST_OF_A_HASH,
            "compared": MOST_COMPARED,
        },
    )
    return tuple(
        Peer(slug, likeness, frozenset(shared), is_earlier, key)
        for key, slug, is_earlier, shared, likeness in found
    )


def reopen_copies(found: Sequence[Peer], policy: Policy) -> None:
    """Have Integrity look again at later matches that were judged before their source came in.

    The sweep picks up what becomes due here. A match whose finding is there already is left.
    """
    least = policy.integrity.plagiarism_similarity
    copies = {p.bundle for p in found if not p.is_earlier and p.similarity >= least} - {None}
    if not copies:
        return
    known = Finding.objects.filter(bundle__in=copies, trigger="plagiarism", is_live=True)
    Step.objects.filter(
        bundle__in=copies - set(known.values_list("bundle", flat=True)),
        name__in=[Step.Name.INTEGRITY, Step.Name.SCORECARD],
        state__in=[Step.State.DONE, Step.State.FAILED],
    ).update(state=Step.State.WAITING, attempts=0, reason="", lease_expires_at=None)
