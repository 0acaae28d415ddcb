# make demo and make test need Python 3.11 or later, with pip and venv, and nothing else.
PYTHON ?= python3
BIN = .venv/bin
export PIP_CONSTRAINT = constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test check docs package bench mutate clean

demo: .venv/ready          ## learn the paper's Table 1 from rows with holes, and print ours beside it
	$(BIN)/nbr reproduce table1 --seeds 1

test: .venv/ready          ## run the tests, on every core
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

check: .venv/ready         ## what CI runs: lint, format, types, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(MAKE) test

docs: .venv/docs           ## the documentation as pages to browse, in build/site; a dead link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file site/mkdocs.yml
	@echo open build/site/index.html, or: $(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site

package: .venv/ready       ## sdist and wheel, installed in an empty environment and used: the core alone, then [all]
	$(BIN)/python .ci/package.py

bench: .venv/bench         ## time it, beside other libraries; with OLD=REVISION also beside an earlier version
	$(BIN)/python benchmarks/run.py
	$(if $(OLD),$(BIN)/python benchmarks/compare.py $(OLD) src)

mutate: .venv/ready        ## break the code on purpose: do the tests notice? Takes an hour or two, and goes on where it was
	$(BIN)/python benchmarks/mutate.py named
	$(BIN)/python benchmarks/mutate.py random --count 120 --seed 1

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "nbr needs Python 3.11 or later")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

.venv/bench: .venv/ready
	$(BIN)/pip install --quiet --editable '.[bench]'
	touch $@

.venv/docs: .venv/ready
	$(BIN)/pip install --quiet --editable '.[docs]'
	touch $@

.venv/browser: .venv/ready
	$(BIN)/pip install --quiet --editable '.[browser]'
	npm install --silent --no-audit --no-fund --prefix .venv/axe axe-core@4.14.0 || echo "no axe-core: its tests will be skipped"
	touch $@

clean:
	rm -rf .venv build .mypy_cache .pytest_cache .ruff_cache .hypothesis
