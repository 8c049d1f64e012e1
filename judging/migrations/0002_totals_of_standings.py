from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('bouts', '0005_last_sent_at'),
        ('judging', '0001_initial'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='standing',
            name='standings_in_order',
        ),
        migrations.RenameField(
            model_name='standing',
            old_name='shown',
            new_name='rounded',
        ),
        migrations.AddField(
            model_name='standing',
            name='total',
            field=models.DecimalField(decimal_places=2, max_digits=7, null=True),
        ),
        migrations.AddIndex(
            model_name='standing',
            index=models.Index(models.F('challenge_version'), models.OrderBy(models.F('rounded'), descending=True, nulls_last=True), models.OrderBy(models.F('value'), descending=True, nulls_last=True), models.F('id'), name='standings_in_order'),
        ),
    ]
