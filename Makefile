# Two commands do everything on a fresh machine: make demo, make test.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
OUT    ?= out

.PHONY: demo view docs docs-zensical gallery test test-slow test-all ledger lint format clean python-is-ready

demo: $(VENV)/.render
	$(BIN)/supple run hanging-beam --out $(OUT)/beam --picture
	$(BIN)/supple run garden --out $(OUT)/demo --picture --video gif

# a flower in the browser while it runs; make view SCENE=oak shows another
SCENE ?= flower
view: $(VENV)/.studio
	$(BIN)/supple view $(SCENE)

# the documentation's site, in site/; a broken link or an unknown name is an error (with --quiet mkdocs would count none)
# its gallery has three canvases, run once and kept in out/gallery; make gallery makes all
docs: $(VENV)/.docs
	$(BIN)/python tools/docs/gallery.py --cache $(OUT)/gallery hanging-beam quadruped flower
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

gallery: $(VENV)/.docs
	$(BIN)/python tools/docs/gallery.py --cache $(OUT)/gallery --all
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# the same site by Zensical, which reads mkdocs.yml; half a minute
docs-zensical: $(VENV)/.docs
	@$(BIN)/python -c 'import zensical' 2>/dev/null || \
	  { echo "Zensical is not installed: $(BIN)/pip install zensical, then run make docs-zensical again." >&2; exit 1; }
	$(BIN)/zensical build --clean --strict

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 -m slow

test-all: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 -m "slow or not slow"

# bits of all examples on this machine; compare later: .venv/bin/python tests/ledger.py --against out/ledger.json
ledger: $(VENV)/.dev
	$(BIN)/python tests/ledger.py --write $(OUT)/ledger.json

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python: | python-is-ready
	$(PYTHON) -m venv $(VENV)

# each set of extras is a stamp file, so that make demo does not wait for the tools of make test
# --no-compile: Python compiles the modules that are imported, a few seconds; pip all of them, which takes longer than to unpack them
$(VENV)/.render: pyproject.toml constraints.txt $(VENV)/bin/python
	$(PIP) install -q --no-compile -c constraints.txt -e ".[render]"
	@touch $@

$(VENV)/.studio: pyproject.toml constraints.txt $(VENV)/bin/python
	$(PIP) install -q --no-compile -c constraints.txt -e ".[studio]"
	@touch $@

$(VENV)/.docs: pyproject.toml constraints.txt $(VENV)/bin/python
	$(PIP) install -q --no-compile -c constraints.txt -e ".[docs]"
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(VENV)/bin/python
	$(PIP) install -q -c constraints.txt -e ".[dev,render,mesh]"
	@touch $@

python-is-ready:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Supple needs Python 3.11 or newer; '$(PYTHON)' is older or missing. Install it, or name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "This Python has no venv with pip. On Debian or Ubuntu: sudo apt-get install python3-venv, then run make again." >&2; exit 1; }

clean:
	rm -rf $(VENV) $(OUT) site docs/gallery build dist
