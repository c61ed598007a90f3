# Every target installs what it lacks, builds what it needs and says what it does. Nothing is kept outside .build,
# save the reference that `make docs` writes to docs/api.
.DEFAULT_GOAL := help
.PHONY: help demo test build static bench docs format lint fuzz

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

demo: ## play recorded answers on a loopback server and fetch them, printing each callback (no network needed)
	@Tests/Checks/require.sh
	@swift build --product gannet
	@"$$(swift build --show-bin-path)/gannet" demo

test: ## build and run every test
	@Tests/Checks/require.sh
	swift test
	@Tests/Checks/skipped.sh

build: ## build the libraries and the fetcher, without optimisation
	@Tests/Checks/require.sh
	swift build

static: ## an optimised fetcher without the Swift libraries beside it: prints its size and what it still needs
	@Tests/Checks/require.sh
	@Tests/Checks/static.sh

bench: ## compare Gannet with a bare socket client and curl on a server of its own (ROUNDS=5)
	@Tests/Checks/require.sh
	@Tests/Benchmarks/run.sh

docs: ## write the API reference of each library to docs/api
	@Tests/Checks/require.sh
	@Tests/Checks/docs.sh

format: ## rewrite the sources in the one format
	swift format -i -r Package.swift Sources Tests

lint: ## check format, layers, unsafe code and marked exceptions
	swift format lint --strict -r Package.swift Sources Tests
	@Tests/Checks/layers.sh
	@Tests/Checks/unsafe.sh
	@Tests/Checks/paths.sh
	@Tests/Checks/readme.sh

fuzz: ## run every fuzz target for a while (SECONDS_EACH=30)
	@Tests/Checks/require.sh
	@Tests/Fuzz/run.sh
