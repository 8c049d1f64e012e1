"""How many cases are settled, without looking at them: each was counted when it was settled.

What waits is counted anew each time, and is only ever as much as people have left to do. What
is settled grows for good. So whatever settles a case, or opens it again, adds a row here in its
own transaction; nobody waits for anybody. From time to time the rows are added up.
"""

from __future__ import annotations

from django.db import connection, transaction

from adjudication.models import Case, Tally

KEY = ("challenge", "team", "reason", "blocking", "stakes", "state")


def count(case: Case, number: int) -> None:
    """Count a case in (1) as it is settled now, or out (-1) as it was; within its transaction."""
    columns = [Tally._meta.get_field(name).attname for name in KEY]
    Tally.objects.create(**{name: getattr(case, name) for name in columns}, number=number)


def add_up() -> None:
    """Make one row of those that count the same. Whatever is counted meanwhile stays apart."""
    with connection.cursor() as cursor:
        cursor.execute(ADD_UP)


@transaction.atomic
def recount() -> None:
    """Count every settled case anew, such as after rows were changed by hand."""
    with connection.cursor() as cursor:
        # Whoever has settled a case and counted it is waited for; others wait until we are done.
        cursor.execute("LOCK TABLE adjudication_tally IN EXCLUSIVE MODE")
        cursor.execute("DELETE FROM adjudication_tally")
        cursor.execute(RECOUNT)


COLUMNS = "challenge_id, team_id, reason, blocking, stakes, state"
ADD_UP = f"""
WITH gone AS (DELETE FROM adjudication_tally RETURNING *)
INSERT INTO adjudication_tally ({COLUMNS}, number)
SELECT {COLUMNS}, sum(number) FROM gone GROUP BY {COLUMNS} HAVING sum(number) <> 0
"""
RECOUNT = f"""
INSERT INTO adjudication_tally ({COLUMNS}, number)
SELECT {COLUMNS}, count(*) FROM adjudication_case WHERE closed_at IS NOT NULL GROUP BY {COLUMNS}
"""
