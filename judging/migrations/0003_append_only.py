"""Let the database refuse to change what must never change, whoever asks.

Calls and their results stay as they are. Of verdicts, findings and scorecards one thing may
change: whether they are live.
"""

from django.db import migrations

REFUSE = """
CREATE FUNCTION judging_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;
"""

FIXED = ("judging_modelcall", "judging_callresult", "judging_callattempt")
LIVE_OR_NOT = ("judging_verdict", "judging_finding", "judging_scorecard")


def refused(table, when, condition=""):
    return f"""
CREATE TRIGGER {table}_{when.lower()} BEFORE {when} ON {table}
    FOR EACH ROW {condition} EXECUTE FUNCTION judging_refuse();
"""


ANYTHING_ELSE = "WHEN (to_jsonb(NEW) - 'is_live' IS DISTINCT FROM to_jsonb(OLD) - 'is_live')"
TRIGGERS = [
    *(refused(table, "DELETE") for table in (*FIXED, *LIVE_OR_NOT)),
    *(refused(table, "UPDATE") for table in FIXED),
    *(refused(table, "UPDATE", ANYTHING_ELSE) for table in LIVE_OR_NOT),
]


class Migration(migrations.Migration):
    dependencies = [("judging", "0002_model_calls")]
    operations = [
        migrations.RunSQL(REFUSE + "".join(TRIGGERS), "DROP FUNCTION judging_refuse CASCADE")
    ]
