"""Install the SQL of the message queues that the embedded broker uses.

Harmless where CELERY_BROKER_URL names another broker.
"""

from django.db import migrations
from pgmq.install import get_embedded_install_sql


def install(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('pgmq.meta') IS NOT NULL")
        if not cursor.fetchone()[0]:
            cursor.connection.execute(get_embedded_install_sql())


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [migrations.RunPython(install, migrations.RunPython.noop)]
