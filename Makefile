# make book   build the book            make test   every test that CI runs
# make lint   style and types           make check  what is too slow for CI
# make stored NAME=adam   compute an experiment anew and store its result
# make audit  known vulnerabilities of the pins     make links  do links to other sites still lead somewhere?
# make release   offline site, PDF, notebooks, wheel and checksums into dist/
# make gpu    tests and benchmark on a CUDA machine    make clean  remove what was built
# make slides a deck for each lecture, with notes and PDF, in dist/slides
# make student      pages and notebooks without solutions, in dist/student (REPOSITORY=https://github.com/...: its address)
# make instructor   pages with solutions, notes and keys, and the folder that nbgrader marks in, in dist/instructor
# make exam SEED=1  an exam and its key, in dist/exam/1
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PYTEST := $(BIN)/python -m pytest
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.NOTPARALLEL:
.PHONY: help env book pages notebooks test drift lint check stored slides student instructor exam release audit links gpu clean

help:
	@sed -n '/^# make/s/^# //p' Makefile

env: $(READY)

$(READY): requirements.txt requirements-slides.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --requirement requirements.txt
	$(BIN)/pip install --quiet --no-deps --requirement requirements-slides.txt
	$(BIN)/pip install --quiet --no-deps --editable .
	@touch $@

# A notebook runs only when its code, the package modules it reaches or the pins changed.
notebooks: $(READY)
	$(BIN)/python tools/export_notebooks.py
	$(BIN)/python tools/execute.py

# After a failed build the pages are read again, so that a warning cannot vanish by building twice.
pages: notebooks
	$(BIN)/jupyter-book build -W -n --keep-going . || { rm -rf _build/.doctrees; exit 1; }

book: pages
	@echo
	@echo "The book is built.  Open this address in a browser:"
	@echo "  file://$(CURDIR)/_build/html/index.html"

# The notebooks in the repository are those that the chapters give.
drift: $(READY)
	$(BIN)/python tools/export_notebooks.py --check

lint: notebooks
	$(PYTEST) -q tests/test_style.py

# Benchmarks measure alone; everything else, lint included, shares two cores.
test: pages
	$(BIN)/pip install --quiet --no-deps --requirement requirements-test.txt
	@status=0; \
	$(PYTEST) -q tests/test_benchmarks.py || status=1; \
	$(PYTEST) -m "not slow" --ignore=tests/test_benchmarks.py -n 2 --dist=worksteal || status=1; \
	exit $$status

check: pages
	$(BIN)/pip install --quiet --no-deps --requirement requirements-test.txt
	$(BIN)/pip install --quiet --requirement requirements-check.txt --requirement requirements-release.txt
	$(PYTEST) -m slow

release: pages
	$(BIN)/pip install --quiet --requirement requirements-release.txt
	$(BIN)/python tools/release.py

# Both need the internet, so neither is part of a test: known vulnerabilities of what is pinned, and links to other sites.
audit: $(READY)
	$(BIN)/pip install --quiet pip-audit
	$(BIN)/pip-audit --no-deps --disable-pip --requirement requirements.txt

links: pages
	$(BIN)/jupyter-book build --builder linkcheck .

stored: $(READY)
	$(BIN)/python tools/store.py $(NAME)

# The decks take formulas from the chapters, figures from the executed notebooks.
slides: notebooks
	$(BIN)/python tools/slides.py

# The editions take the outputs that the notebooks have; nothing runs again.
student: notebooks
	$(BIN)/python tools/student.py $(if $(REPOSITORY),--repository $(REPOSITORY))

instructor: notebooks
	$(BIN)/python tools/instructor.py

exam: $(READY)
	@test -n "$(SEED)" || { echo "say which exam: make exam SEED=1"; exit 1; }
	$(BIN)/python tools/exam.py --seed $(SEED)

gpu: $(READY)
	$(BIN)/python tools/gpu.py

clean:
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find copyhead tools tests -name __pycache__ -exec rm -rf {} +
