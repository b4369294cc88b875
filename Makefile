# SPDX-License-Identifier: Apache-2.0
# The short names of what one does with clrscope. `make help` lists them.
PREFIX ?= /usr/local
SECONDS_EACH ?= 600
BIN := build/release/bin/clrscope
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

all: ## build build/release/bin/clrscope (the default)
	@tools/setup build
	@test -f build/release/CMakeCache.txt || cmake --preset release -DCLRSCOPE_TESTS=OFF --log-level=NOTICE
	@cmake --build --preset release --target clrscope
	@echo "built $(BIN): try $(BIN) --help"

install: all ## install to PREFIX (/usr/local)
	@cmake --install build/release --prefix "$(PREFIX)" --strip

package: ## make build/packages: .tar.gz, .deb, .rpm, a dotnet tool, an OCI archive, sums, SBOM
	@tools/setup build musl package
	@tools/musl_libstdcxx >/dev/null
	@$(MAKE) --no-print-directory all
	@tools/package

release: ## check that this commit is a release, make its packages twice, compare and test them
	@tools/setup all
	@tools/release

demo: all ## record an allocating .NET program and show who allocates (needs a .NET SDK)
	@tools/demo

test: ## all checks and tests, as CI runs them; the last line is "N passed, N failed"
	@tools/setup all
	@tools/ci

check: ## the tests that matter while working, in a few minutes; the last line is "N passed, N failed"
	@tools/setup all
	@tools/ci --quick

accuracy: ## measure every estimator on simulated and on recorded programs and write docs/accuracy.md
	@tools/setup all
	@tools/build_workloads --self-contained alloc web
	@cmake --preset release -DCLRSCOPE_TESTS=ON --log-level=NOTICE
	@cmake --build --preset release --target clrscope sequence accuracy
	@bench/sequences.py
	@build/release/bin/accuracy 1000 build/sequences/csc build/sequences/csharpier build/sequences/aspnet > build/accuracy.md
	@bench/live_accuracy.py >> build/accuracy.md && mv build/accuracy.md docs/accuracy.md

soak: ## fuzz every parser for SECONDS_EACH (600) seconds, then the long tests
	@tools/setup all
	@tools/soak $(SECONDS_EACH)

format: ## rewrite the C++ sources as clang-format wants them
	@tools/setup test
	@find src fuzz bench -name '*.h' -o -name '*.cc' | xargs clang-format -i

tidy: ## clang-tidy over every C++ file
	@tools/setup all
	@tools/tidy

clean: ## remove build/
	@rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: all install package release demo test check accuracy soak format tidy clean help
