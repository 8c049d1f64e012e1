import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

FILL = """
    UPDATE adjudication_case c SET challenge_id = m.challenge_id, team_id = a.team_id
    FROM bouts_match m JOIN bouts_agent a ON a.id = m.agent_id WHERE m.id = c.match_id
"""


def to(model, *, null):
    return models.ForeignKey(
        null=null, on_delete=django.db.models.deletion.PROTECT, related_name='cases', to=model
    )


class Migration(migrations.Migration):

    dependencies = [
        ('adjudication', '0002_initial'),
        ('bouts', '0004_hidden_words'),
        ('judging', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.DeleteModel(name='Decline'),
        migrations.RemoveConstraint(model_name='blindscore', name='levels_or_an_opinion'),
        migrations.AddConstraint(
            model_name='blindscore',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('levels__isnull', True), ('score__isnull', True)), ('opinion', ''), _connector='XOR'), name='levels_or_an_opinion'),
        ),
        migrations.AddField(model_name='case', name='challenge', field=to('bouts.challenge', null=True)),
        migrations.AddField(model_name='case', name='team', field=to('bouts.team', null=True)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField(model_name='case', name='challenge', field=to('bouts.challenge', null=False)),
        migrations.AlterField(model_name='case', name='team', field=to('bouts.team', null=False)),
    ]
