# Regent. `make demo` shows it, `make test` proves it; the rest is for those who work on it.
.PHONY: build demo test bench fuzz sanitize lint install uninstall soak clean help
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
DESTDIR ?=
PRODUCTS := regentd
SWIFT_RELEASE := swift build -c release --static-swift-stdlib
SECONDS_PER_FUZZ_TARGET := $(or $(SECONDS),60)

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1|/p' Makefile | column -t -s '|'

build: ## the release binaries in .build/release
	@deploy/bootstrap
	@set -e; for product in $(PRODUCTS); do $(SWIFT_RELEASE) --product $$product; done

demo: ## a service, a box that shows its code, and a phone (not there yet)
	@echo "make demo will start a service with sample data on loopback and a box that shows its code;"
	@echo "you sign in on the page as demo / demo. The service and the agent do not exist yet: see CHANGELOG.md."
	@exit 1

test: ## everything CI runs: format, build with warnings as errors, swift test
	@deploy/bootstrap --test
	@Tests/run

lint: ## format and spelling of the house, without building
	swift format lint --strict --recursive --parallel Package.swift Sources Tests

bench: ## one table of figures and bars; ONLY=name runs one row
	@deploy/bootstrap --bench
	@swift build -c release --product Benchmarks
	@"$$(swift build -c release --show-bin-path)/Benchmarks" table $(if $(ONLY),--only $(ONLY))

soak: ## kill -9 a writer under load; CYCLES=1000
	@deploy/bootstrap --test
	@swift build -c release --product Soak
	@"$$(swift build -c release --show-bin-path)/Soak" kill --cycles $(or $(CYCLES),1000)

fuzz: ## every parser against libFuzzer; SECONDS=60 each, ONLY=target runs one
	@deploy/bootstrap --test
	@Tests/Fuzz/run $(SECONDS_PER_FUZZ_TARGET) $(ONLY)

sanitize: ## the suites under ThreadSanitizer and AddressSanitizer
	@deploy/bootstrap --test
	@Tests/sanitize

install: build ## the programs below PREFIX=/usr/local (DESTDIR= for packagers)
	install -d "$(DESTDIR)$(PREFIX)/bin"
	set -e; for product in $(PRODUCTS); do \
	  install -m 755 -s ".build/release/$$product" "$(DESTDIR)$(PREFIX)/bin/"; done

uninstall: ## what install put there
	set -e; for product in $(PRODUCTS); do rm -f "$(DESTDIR)$(PREFIX)/bin/$$product"; done

clean: ## the build folder
	rm -rf .build
