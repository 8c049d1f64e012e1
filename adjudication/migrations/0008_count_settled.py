from django.db import migrations


class Migration(migrations.Migration):
    """Count what is settled already."""

    dependencies = [
        ('adjudication', '0007_tallies'),
    ]

    operations = [
        migrations.RunSQL(
            """
            INSERT INTO adjudication_tally
                (challenge_id, team_id, reason, blocking, stakes, state, number)
            SELECT challenge_id, team_id, reason, blocking, stakes, state, count(*)
            FROM adjudication_case WHERE closed_at IS NOT NULL
            GROUP BY challenge_id, team_id, reason, blocking, stakes, state
            """,
            "DELETE FROM adjudication_tally",
        ),
    ]
