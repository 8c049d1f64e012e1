import django.db.models.deletion
from django.db import migrations, models

FILL = """
    INSERT INTO judging_fingerprinthash (challenge_id, version, hash, fingerprint_id)
    SELECT DISTINCT f.challenge_id, f.version, one, f.bundle_id
      FROM judging_fingerprint f
      JOIN bouts_bundle bundle ON bundle.id = f.bundle_id AND bundle.is_live
     CROSS JOIN LATERAL unnest(f.hashes) one
"""


class Migration(migrations.Migration):

    dependencies = [
        ('bouts', '0003_keep_starting_trees'),
        ('judging', '0006_board_statistics'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='fingerprint',
            name='fingerprints_to_compare',
        ),
        migrations.CreateModel(
            name='FingerprintHash',
            fields=[
                ('pk', models.CompositePrimaryKey('challenge', 'version', 'hash', 'fingerprint', blank=True, editable=False, primary_key=True, serialize=False)),
                ('version', models.PositiveSmallIntegerField()),
                ('hash', models.BigIntegerField()),
                ('challenge', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='bouts.challenge')),
                ('fingerprint', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='judging.fingerprint')),
            ],
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
