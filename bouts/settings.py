"""The one settings file. Everything that differs between machines comes from the environment.

``.env.example`` lists every variable with a local value.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from bouts import embedded, env

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.text("BOUTS_DATA", str(BASE_DIR / ".data"))).resolve()

DEBUG = env.flag("BOUTS_DEBUG", default=False)
ALLOWED_HOSTS = env.items("BOUTS_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.items("BOUTS_ORIGINS", [])


def secret_key() -> str:
    """Return the key of this installation: from the environment, else made once and kept."""
    import secrets

    if env.text("BOUTS_SECRET_KEY", ""):
        return env.required("BOUTS_SECRET_KEY")
    file = DATA_DIR / "secret-key"
    if not file.exists():
        DATA_DIR.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(50))
    return file.read_text()


SECRET_KEY = secret_key()


# Database


def database(address: str) -> dict[str, object]:
    """Turn ``postgresql://user:password@host:port/name?option=value`` into Django's dict."""
    parts = urlsplit(address)
    if parts.scheme not in {"postgresql", "postgres"}:
        raise env.BadSetting(f"DATABASE_URL starts with {parts.scheme!r}; expected postgresql://.")
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
    }


DATABASES = {"default": database(env.text("DATABASE_URL", "") or embedded.url(DATA_DIR))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Applications

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "django_htmx",
    "template_partials",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "bouts",
    "judging",
    "adjudication",
    "news",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "bouts.middleware.HeadMiddleware",
    "bouts.packing.PackingMiddleware",
    "bouts.middleware.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "bouts.zones.TimeZoneMiddleware",
    "bouts.middleware.SignInRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "bouts.middleware.NulMiddleware",
]

ROOT_URLCONF = "bouts.urls"
WSGI_APPLICATION = "bouts.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "bouts.context_processors.masthead",
                "news.context_processors.notices",
                "adjudication.context_processors.badge",
            ],
            "builtins": ["bouts.templatetags.bouts", "template_partials.templatetags.partials"],
        },
    },
]

# People

AUTH_USER_MODEL = "bouts.User"
AUTHENTICATION_BACKENDS = ["bouts.backends.PersonBackend"]
LOGIN_URL = "bouts:sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "bouts:sign_in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SESSION_ENGINE = "bouts.sessions"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
PASSWORD_RESET_LIFETIME = timedelta(days=2)

# Transport. Behind a proxy that ends TLS set BOUTS_HTTPS=1.

HTTPS = env.flag("BOUTS_HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# The one style element that Plotly adds is empty; this is the hash of the empty string.
EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
# And the one sheet that it brings along for maps, which we draw none of: refused, it would be an
# error in the console of every page with a chart. The hash allows that text and no other; a
# Plotly with another text fails tests/bouts/test_pages.py.
MAP_STYLE = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"
CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' {EMPTY_STYLE} {MAP_STYLE}",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
)

# Time and language. Everything is stored and shown in UTC; pages say so beside each time.

LANGUAGE_CODE = "en-gb"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True

# Files

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "bouts.finders.PlotlyFinder",
]
STORAGES = {
    "default": {
        "BACKEND": "bouts.storage.ContentFolder",
        "OPTIONS": {"location": DATA_DIR / "artifacts"},
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# Uploads go to disk from the first byte, so that memory does not grow with a bundle.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
FILE_UPLOAD_PERMISSIONS = 0o640
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000

MEGABYTE = 1_000_000
BUNDLE_LIMITS = {
    "bundle_bytes": env.whole("BOUTS_MAX_BUNDLE_MB", 512, least=1) * MEGABYTE,
    "members": env.whole("BOUTS_MAX_MEMBERS", 5000, least=1),
    "member_bytes": env.whole("BOUTS_MAX_MEMBER_MB", 100, least=1) * MEGABYTE,
    "ratio": env.whole("BOUTS_MAX_RATIO", 200, least=2),
}

# Cache: rendered breakdowns, which are immutable by (scorecard, audience).

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "TIMEOUT": None,
        "OPTIONS": {"MAX_ENTRIES": 2000},
    }
}

# Background work. The database is the truth, the broker a doorbell.

_default = DATABASES["default"]


def broker_conninfo(database: dict[str, object]) -> str:
    """Return the libpq string of a database: the pgmq transport cannot read ``host=`` in a URL."""
    from psycopg.conninfo import make_conninfo

    return make_conninfo(
        dbname=database["NAME"],
        user=database["USER"] or None,
        password=database["PASSWORD"] or None,
        host=database["HOST"] or None,
        port=database["PORT"] or None,
    )


CELERY_BROKER_URL = env.text("CELERY_BROKER_URL", "pgmq://localhost")
if CELERY_BROKER_URL.startswith("pgmq:"):
    CELERY_BROKER_TRANSPORT = "bouts.broker.Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "conn_string": broker_conninfo(_default),
        "init_extension": False,  # a migration installs the SQL
        "polling_interval": 0.01,
        "wait_time_seconds": 5,
        "poll_interval_ms": 20,
        # Longer than a task may take, so that none runs twice while it still works.
        "visibility_timeout": 1200,
    }
CELERY_TASK_DEFAULT_QUEUE = "celery"
# What waits for servers of other people, of models and of webhooks, is not to keep a bundle
# waiting when one of them hangs. A worker listens on one queue: with two, this transport would
# wait for seconds at the one while there is work in the other.
OUTSIDE_QUEUE = env.text("BOUTS_OUTSIDE_QUEUE", "outside")
CELERY_TASK_ROUTES = {
    task: {"queue": OUTSIDE_QUEUE} for task in ("judging.tasks.ask", "news.tasks.deliver")
}
CELERY_WORKER_PREFETCH_MULTIPLIER = 4
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = 900
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    "pick up judging that a dead worker left": {"task": "judging.tasks.sweep", "schedule": 30.0},
    "pick up uploads that a dead worker left": {
        "task": "bouts.tasks.sweep_uploads",
        "schedule": 30.0,
    },
    "add up how many cases are settled": {
        "task": "adjudication.tasks.add_up_tallies",
        "schedule": 300.0,
    },
    "send webhooks that are due": {"task": "news.tasks.sweep", "schedule": 10.0},
}
STEP_LEASE = timedelta(seconds=env.whole("BOUTS_STEP_LEASE_S", 120, least=1))
STEP_ATTEMPTS = 3
# As long as the largest bundle may take.
UPLOAD_LEASE = timedelta(seconds=env.whole("BOUTS_UPLOAD_LEASE_S", 600, least=1))

# Asking models (SCORING.md, 5 and 7)


def seat(name: str) -> dict[str, object]:
    """Return what the environment says of a seat; `judging.panel.seats` reads it."""
    prefix = f"BOUTS_SEAT_{name.upper()}"
    fields = ("key", "model", "base_url", "wire", "vendor", "price", "temperature")
    return {
        **{field: env.text(f"{prefix}_{field.upper()}", "") for field in fields},
        "timeout_s": env.whole(f"{prefix}_TIMEOUT_S", 0),
    }


# A seat without a key is not configured.
SEATS = {name: seat(name) for name in ("anthropic", "openai", "google")}
# The seat that is asked for Process, Recovery and Integrity; the first configured one if empty.
READER_SEAT = env.text("BOUTS_READER_SEAT", "")
PANEL_SAME_VENDOR = env.flag("BOUTS_PANEL_SAME_VENDOR", default=False)

# What is asked about one match, and in one day (UTC), may cost so many US dollars.
BUDGET_MATCH_USD = env.amount("BOUTS_BUDGET_MATCH_USD", "5")
BUDGET_DAY_USD = env.amount("BOUTS_BUDGET_DAY_USD", "100")
# Longer than a call may take with all its attempts.
ASK_LEASE = timedelta(seconds=env.whole("BOUTS_ASK_LEASE_S", 840, least=1))

# Adjudication (SCORING.md, 8)

CLAIM_LEASE = timedelta(minutes=15)
CASE_TARGET = timedelta(hours=24)
CASE_LIMIT = timedelta(hours=48)
# "Next case" gives nobody more than this: whoever holds so many gets one of them back.
CASES_HELD_AT_ONCE = env.whole("BOUTS_CASES_HELD", 1, least=1)
# Of the panels that agree, so many in a hundred are put to a reviewer all the same.
RANDOM_AUDIT_PERCENT = env.whole("BOUTS_RANDOM_AUDIT_PERCENT", 5)

# Webhooks

# Addresses without TLS, and such as lie in a private network, are refused unless these are set.
WEBHOOK_HTTP = env.flag("BOUTS_WEBHOOK_HTTP", default=False)
WEBHOOK_PRIVATE = env.flag("BOUTS_WEBHOOK_PRIVATE", default=False)
WEBHOOK_TIMEOUT_S = env.whole("BOUTS_WEBHOOK_TIMEOUT_S", 10, least=1)
WEBHOOK_LEASE = timedelta(seconds=2 * WEBHOOK_TIMEOUT_S + 60)  # a name may take long to look up
WEBHOOK_OFF_AFTER = timedelta(hours=env.whole("BOUTS_WEBHOOK_OFF_AFTER_H", 72, least=1))
WEBHOOK_OVERLAP = timedelta(hours=24)  # how long a secret that was replaced still signs

# API

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "bouts.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["bouts.api.permissions.SignedInWithScope"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "bouts.api.pagination.Pages",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["bouts.api.parsers.JSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "bouts.api.negotiation.OneForm",
    "COERCE_DECIMAL_TO_STRING": True,
    "PAGE_SIZE": 50,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Bouts",
    "DESCRIPTION": "Matches between AI coding agents, judged by five judges.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "ScorecardStatus": "judging.models.Scorecard.Status",
        "FindingStatus": "judging.models.Finding.Status",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "bouts.api.schema.add_errors",
    ],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.text("BOUTS_LOG_LEVEL", "WARNING")},
}
