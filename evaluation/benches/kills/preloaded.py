"""All modules of the platform, imported once for the processes that fork from here."""

import importlib
import pkgutil

import services

for _module in pkgutil.walk_packages(services.__path__, "services."):
    if ".migrations" not in _module.name and not _module.name.endswith("__main__"):
        importlib.import_module(_module.name)
for _name in ("alembic.command", "psycopg", "redis", "celery.app.amqp", "sqlalchemy.dialects"):
    importlib.import_module(_name)
