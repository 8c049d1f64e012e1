# Two commands do everything: `make up` runs Bouts, `make test` tests it.
# Both need nothing but make and a Python from 3.11 on with pip; the rest goes into this folder.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& command -v $$python && break; done)
export UV_PYTHON_DOWNLOADS = never

uv = .tools/bin/uv
python = .venv/bin/python

.PHONY: help up test check browser bench examples lock

help:
	@echo 'make up        run everything: database, worker, web server, sample matches (Ctrl-C stops it)'
	@echo 'make test      check and test everything, in a real browser too'
	@echo 'make check     format, lint, types and missing migrations, without the tests'
	@echo 'make bench     measure speed, each figure beside its floor'
	@echo 'make examples  make the sample bundles again, with real tools'
	@echo 'make lock      renew requirements.lock from pyproject.toml'

up: .venv/installed
	@exec $(python) -m bouts.serve

test: .venv/installed browser check
	@exec $(python) -m tests

check: .venv/installed
	@$(python) -m ruff format --check --quiet
	@$(python) -m ruff check --quiet
	@$(python) -m mypy
	@DJANGO_SETTINGS_MODULE=tests.settings $(python) manage.py makemigrations --check --dry-run

browser: .venv/installed
	@$(python) -m tests.chromium

bench: .venv/installed
	@exec $(python) -m bench

examples: .venv/installed
	@exec $(python) -m examples.make

lock: $(uv)
	$(uv) lock --upgrade
	$(uv) export --quiet --format requirements-txt --no-emit-project -o requirements.lock

# The environment is made once and brought up to date when the lock is newer.

.venv/installed: requirements.lock $(python)
	@echo 'Installing what requirements.lock lists'
	@$(uv) pip sync --quiet --require-hashes --python $(python) requirements.lock
	@touch $@

$(python): | $(uv)
	@$(uv) venv --quiet --clear --python '$(PYTHON)' .venv

# uv pins itself: its lines of the lock, hashes and all, are what pip installs.

$(uv): requirements.lock
	@test -n '$(PYTHON)' || { echo 'Bouts needs Python 3.11 or newer. Where it has another name: make PYTHON=...' >&2; exit 1; }
	@mkdir -p .tools
	@awk '/^[^ #]/ { mine = /^uv==/ } mine' requirements.lock > .tools/uv.txt
	@'$(PYTHON)' -m pip install --quiet --root-user-action ignore --upgrade --target .tools \
		--require-hashes --requirement .tools/uv.txt
	@touch $@
