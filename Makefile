# `make demo` shows Regent, `make test` and `make check` test it; `make help` lists the rest.
.PHONY: pages describe build programs library demo test check bench benchmarks scale fuzz sanitize lint install uninstall soak long dist deb repo tarball image kodi clean help
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
DESTDIR ?=
PRODUCTS := regentd regentctl regent
# All symbols are bound at the start, so that their table is read-only afterwards; no library is looked for beside a program.
HARDENED := --disable-local-rpath -Xlinker -z -Xlinker now
# The Swift runtime needs the C++ library, and looking up the 1,800 symbols that one has for itself is half of what a short
# command costs. A folder with nothing but the archive comes first on the path, so that this is what the linker finds.
CXX_LIBRARY := .build/c++/libstdc++.a
SWIFT_RELEASE := swift build --no-color-diagnostics -c release --static-swift-stdlib $(HARDENED) \
  -Xswiftc -L$(CURDIR)/.build/c++
SECONDS_PER_FUZZ_TARGET := $(or $(SECONDS),60)

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1|/p' Makefile | column -t -s '|'

build: programs library ## the release binaries in .build/release, and libMediaToken.so for other languages

$(CXX_LIBRARY):
	@mkdir -p $(@D) && ln -sf "$$(clang -print-file-name=$(@F))" $@

programs: $(CXX_LIBRARY)
	@deploy/bootstrap
	@set -e; for product in $(PRODUCTS); do $(SWIFT_RELEASE) --product $$product; done
	@touch .build/release/built

# In a folder of its own: SwiftPM gives the static runtime to programs only, and other flags would build everything twice.
library:
	@deploy/bootstrap
	@swift build --no-color-diagnostics -c release $(HARDENED) --scratch-path .build/library --product MediaToken \
	  -Xswiftc -static-stdlib -Xlinker --gc-sections -Xlinker -soname=libMediaToken.so.1 \
	  -Xlinker --version-script=$(CURDIR)/deploy/media-token.exports

demo: programs ## a service, and a box that shows its code; AUTO=1 plays the phone, LAN=1 listens on the network
	@deploy/bootstrap --demo
	@AUTO="$(AUTO)" LAN="$(LAN)" PORT="$(PORT)" deploy/demo

test: ## what a contributor runs: format, build, Swift tests, one journey; ONLY=NAME runs one suite or test
	@deploy/bootstrap --test
	@Tests/run test $(if $(ONLY),"$(ONLY)")

check: ## the rest of what CI runs: browsers, packages, nodes, kills, budgets; ONLY=STEP,STEP runs some
	@deploy/bootstrap --check
	@Tests/run check $(if $(ONLY),"$(ONLY)")

lint: ## the format of the sources, without building
	swift format lint --strict --recursive --parallel Package.swift Sources Tests

# Benchmarks starts regentd and regentctl, which are built with it.
benchmarks: $(CXX_LIBRARY)
	@set -e; for product in Benchmarks regent; do $(SWIFT_RELEASE) --product $$product; done

bench: ## one table of figures and bars; ONLY=name runs one row, ONLY=instructions the counts (WRITE=1 keeps them)
	@deploy/bootstrap --bench
	@$(MAKE) --no-print-directory benchmarks
ifeq ($(ONLY),instructions)
	@Tests/acceptance/instructions.py "$$(swift build -c release --show-bin-path)" $(if $(WRITE),--write)
else
	@"$$(swift build -c release --show-bin-path)/Benchmarks" table $(if $(ONLY),--only "$(ONLY)")
endif

scale: $(CXX_LIBRARY) ## what several nodes use, predicted from single acts and compared with 1, 2, 3 real nodes; JSON=1
	@deploy/bootstrap --test
	@set -e; $(SWIFT_RELEASE) --product Scale
	@"$$(swift build -c release --show-bin-path)/Scale" $(if $(JSON),--json)

soak: ## kill -9 a writer, the whole service, under load, and the box; a box's memory; CYCLES=1000 KILLS=200
	@deploy/bootstrap --test
	@set -e; for product in Soak ServiceSoak SDKProbe regentd regentctl regent; do \
	  swift build --no-color-diagnostics -c release --product $$product; done
	@"$$(swift build -c release --show-bin-path)/Soak" kill --cycles $(or $(CYCLES),1000)
	@"$$(swift build -c release --show-bin-path)/ServiceSoak" --cycles $(or $(CYCLES),1000)
	@products="$$(swift build -c release --show-bin-path)"; \
	  "$$products/SDKProbe" logins "$$products/regentd" $(or $(CYCLES),1000)
	@Tests/acceptance/box-kills.py "$$(swift build -c release --show-bin-path)" $(or $(KILLS),200)
	@Tests/acceptance/account.py "$$(swift build -c release --show-bin-path)" $(or $(KILLS),200)
	@Tests/acceptance/oauth/kills.py "$$(swift build -c release --show-bin-path)" $(or $(KILLS),200)

long: ## what takes longer than make check: soaks, fuzzing, whole matrices, sanitizers; ONLY=soak MINUTES=60 CYCLES=1000
	@Tests/long $(ONLY)

describe: ## generated requests against web/openapi.json; CASES=10000
	@deploy/bootstrap --test
	@set -e; for product in regentd regentctl; do swift build --no-color-diagnostics --product $$product; done
	@Tests/acceptance/schemathesis/run $(or $(CASES),10000)

fuzz: ## every parser against libFuzzer; SECONDS=60 each, ONLY=target runs one
	@deploy/bootstrap --test
	@Tests/Fuzz/run $(SECONDS_PER_FUZZ_TARGET) $(ONLY)

pages: ## the phone's pages in a real browser: axe-core, HTML validator, narrow windows, the script
	@deploy/bootstrap --pages
	@swift build --no-color-diagnostics --product PagePreview
	@Tests/acceptance/run pages

sanitize: ## the suites under ThreadSanitizer and AddressSanitizer
	@deploy/bootstrap --test
	@Tests/sanitize

# What is built is installed as it is: root needs no compiler, and leaves nothing of its own in .build.
install: ## programs, manual, completions, units, examples below PREFIX=/usr/local (DESTDIR= for packagers)
	@set -e; for product in $(PRODUCTS); do \
	  [ -x .build/release/$$product ] || { $(MAKE) --no-print-directory build; break; }; done
	@DESTDIR="$(DESTDIR)" deploy/install install "$(PREFIX)"

uninstall: ## exactly what install put there
	@DESTDIR="$(DESTDIR)" deploy/install uninstall "$(PREFIX)"

dist: ## the source archive .build/dist/regent-VERSION.tar.gz, the same bytes each time
	@deploy/dist

deb: build ## Debian packages of what was built, in .build/deb
	@deploy/bootstrap --deb
	@deploy/deb

repo: ## an apt repository of the packages in DEBS=.build/deb, signed with KEY=FINGERPRINT, in OUT=.build/repo
	@deploy/bootstrap --repo
	@DAYS="$(DAYS)" deploy/repo "$(KEY)" "$(or $(DEBS),.build/deb)" "$(or $(OUT),.build/repo)"

tarball: build ## programs for Linux without packages, their list of parts and checksums, in .build/tarball
	@deploy/bootstrap --release
	@deploy/tarball

image: programs ## OCI images of regentd for Debian 12 and 13, made without an engine, in .build/image
	@deploy/bootstrap --release
	@deploy/image

kodi: ## a Kodi repository of static files in .build/kodi; URL=https://tv.example.org/kodi (where it will be served) VERSION=1.2.3
	@[ -n "$(URL)" ] || { echo "make kodi: say where the files will be served; type: make kodi URL=https://tv.example.org/kodi" >&2; exit 2; }
	@deploy/kodi/build "$(URL)" $(if $(VERSION),--version "$(VERSION)")

clean: ## the build folder
	rm -rf .build
