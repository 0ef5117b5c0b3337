"""Settings for a trial on one machine."""

import os
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent

TIDELINE_URL = os.environ.get("TIDELINE_URL", "http://localhost:8080")
TIDELINE_KEY = os.environ.get("TIDELINE_KEY", "")  # a server on a loopback address may have none

SECRET_KEY = os.environ.get("FORUM_SECRET_KEY", "only for a trial")
DEBUG = "FORUM_SECRET_KEY" not in os.environ
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "forum",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "project.urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("FORUM_DATABASE", BASE_DIR / "forum.sqlite3"),
        # The web server and the worker write at the same time.
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": "PRAGMA journal_mode=WAL"},
        # A file, so that tests can start the worker as a process.
        "TEST": {"NAME": os.environ.get("FORUM_TEST_DATABASE", BASE_DIR / "test.sqlite3")},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "forum.Member"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "forum:categories"
STATIC_URL = "static/"
USE_TZ = True
TIME_ZONE = "UTC"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "loggers": {"forum": {"handlers": ["console"], "level": "INFO"}},
}
