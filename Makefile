# make           the optimised command; the last line of the output is its path
# make demo      shows the command on a gigabyte in memory, and compares its rates with those of openssl and age, in 20 seconds
# make lab       tress-lab and tress-simulate, which tress bench, study, report and simulate run
# make install   installs the built programs, manual pages and completions below PREFIX; make uninstall removes them
# make packages  the files of a release in target/packages: Debian packages, bill of materials, checksums
# make release   packages, source, wheels and a signature; KEY=FILE is the private key
# make bench     measures the rows of the README, recorded under bench/record/
#
# make check         format, clippy and unit tests of the product: two minutes once it is built
# make test          all tests of this machine
# make test-targets  Windows, macOS, aarch64, s390x and firmware; CI runs this and make test
# make nightly       tests that take too long for every change: coverage-guided fuzzing, licences, Miri, other processors
# make soak          tests that take hours
#
# Parts of make test:
#   lint           format, clippy, documentation, phrases that readers stumble over
#   test-rust      vectors, properties, pipeline, command, and the corpora of the fuzz targets with mutations
#   test-without   the same vectors, with instructions disabled by TRESS_CPU
#   test-python    the independent reader and writer of the container, the README, generators of vectors
#   test-page      pages of tress report in a browser
#   test-c         libtress and tress.h: C and C++ programs under sanitizers, OpenSSL, examples, documentation
#   lint-python    types, style and documentation of the Python packages
#   test-wheel     the Python packages tress and tress_simulate; test-dataset: many objects, on folders and a real S3 server
#   test-packages  a package of the debug build: lintian, installation, run and removal; completions in their shells
# Parts of make test-targets:
#   test-windows   the command for Windows under Wine; each system opens the files of the other
#   check-targets  compiles for macOS with the oldest supported Rust, and no_std crates without an operating system
#   qemu           the vectors on aarch64 and s390x, which is big-endian
#   firmware       programs for bare RISC-V: the kept images equal the build; the 32-bit kernels under QEMU, and proofs
# Parts of make nightly and make soak, and other goals:
#   fuzz           MINUTES=5 in total, on FUZZ_JOBS cores or all; TARGETS="keys tree" selects targets, RECORD=1 keeps the figures
#   secrets        no branch and no address depends on a key or on data: under Valgrind, and by an interpreter with unknown values;
#                  run it before a change of a kernel goes in
#   deny           licences, bans and sources of the dependencies
#   publishable    makes the packages for a registry, without an upload
#   publishing     lists what a person must do before a release is published, and fails as long as something is open
#   book           docs/ as a book in target/book, without a warning
#   semver         compares the Rust interfaces with those of the last release
#   miri           the portable code under Miri
#   generators     all generators of vectors, including those that read other projects' packages
#   clients        published programs that use RustCrypto's ccm pass their tests with tress-ccm instead
#   test-pip       the Python packages, built and installed by pip from their source distributions
#   qemu-all       qemu, and riscv64 and i686
#   firmware-qemu  every console, both widths and several harts of the programs under QEMU
#   test-systems   the command for musl, aarch64, riscv64 and s390x
#   sbom           the bill of materials, checked against the crates that cargo compiles in
#   reproducible   two builds in two folders give the same bytes
#   leaks          the property that secrets checks, by measuring times
#   rtl-check      the firmware's kernels on a core as RTL; the cycles are kept for the tests of the simulator
#   systems, dos   measures and records arithmetic on every system that this machine can run or emulate

CARGO ?= cargo
# CI builds once: incremental builds and debug information cost time and are not used.
ifdef CI
export CARGO_INCREMENTAL := 0
export CARGO_PROFILE_DEV_DEBUG := 0
endif
# The virtual environment of all Python tests.
VENV := target/venv
# The limit only ends a test that hangs.
PYTEST := $(VENV)/bin/python -m pytest -q --timeout 1800
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)

.PHONY: all lab demo install uninstall packages release publishable publishing bench check test test-targets nightly soak clean build lint lint-python test-rust test-without secrets \
    python test-python test-page test-c test-wheel test-dataset clients test-pip generators test-packages test-windows check-targets qemu firmware fuzz deny miri \
    qemu-all firmware-qemu test-systems test-windows-crates sbom reproducible leaks rtl-check systems dos semver book

# The command; demo and install share the build.
all:
	@CARGO="$(CARGO)" tools/release

lab:
	@CARGO="$(CARGO)" tools/release tress-lab tress-simulate

demo:
	@tools/setup demo
	@CARGO="$(CARGO)" tools/demo

# Two goals at a time, so that tests that wait leave the cores to the other one. All of them use the result of build, which is the first
# step of lint-python. Long ones come first, so that none runs alone at the end.
test:
	@tools/setup test
	@tools/goals "make test" lint-python lint test-rust test-dataset test-python test-c test-page test-wheel test-packages test-without

# check-targets has its own folders, so it does not wait for the build of qemu.
test-targets:
	@tools/setup test-targets
	@tools/goals "make test-targets" qemu check-targets firmware test-windows

nightly: export MINUTES = 20
nightly:
	@tools/setup nightly
	@tools/goals "make nightly" fuzz deny publishable semver book secrets generators qemu-all test-systems firmware-qemu clients test-pip miri

# Builds everything with tests: building a part alone would rebuild its dependencies with fewer features.
build:
	$(CARGO) build --workspace --all-targets --locked

# Four tests in parallel: those of the command wait for links, clocks and other programs. Temporary files are in memory if 4 GB of it are
# free and a control group does not allow less than 8 GB: syncs to a disk would take a third of the time.
test-rust:
	if [ "$$(df --output=avail /dev/shm 2>/dev/null | tail -1)" -gt 4000000 ] 2>/dev/null && \
	    [ "$$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)" -gt 4000000 ] 2>/dev/null && \
	    ! [ "$$(cat /sys/fs/cgroup/memory.max 2>/dev/null)" -lt 8000000000 ] 2>/dev/null; then export TMPDIR=/dev/shm; fi; \
	RUST_TEST_THREADS=4 $(CARGO) test --workspace --locked --no-fail-fast

# The same tests, without these instructions.
test-without:
	TRESS_CPU=-aes,-avx512,-adx $(CARGO) test --workspace --locked --test all -- cpu:: vectors:: missing_backends modulus::arithmetic modulus::powers lanes:: --skip monte --skip cavp_dsa_siggen

# Checks macOS on x86-64 with the oldest Rust that the packages name: the code for x86-64 needs the newest Rust. make nightly checks
# macOS on aarch64.
OLDEST = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
# Targets without an operating system, with a heap and without one, and tress-cipher without a part.
BARE = RUSTFLAGS="-D warnings" $(CARGO) check --locked --target-dir target/bare --target thumbv7em-none-eabi --target riscv32imac-unknown-none-elf \
    -p tress-cipher -p tress-ccm -p tress-ccm-05 -p tress-modular -p tress-arithmetic --no-default-features
check-targets:
	$(CARGO) +$(OLDEST) check --locked -p tress -p tress-simulate --target x86_64-apple-darwin --target-dir target/oldest
	$(BARE) -F tress-ccm/alloc,tress-ccm-05/alloc,tress-modular/alloc,tress-cipher/ciphers,tress-cipher/lanes
	for features in "" tress-cipher/lanes tress-cipher/chacha20poly1305; do \
	    $(BARE) --target x86_64-unknown-linux-gnu --target aarch64-unknown-linux-gnu -F "$$features" || exit 1; done

# Without optimisation, since these tests compute little. make soak runs the tests of the libraries that do not need Unix.
test-windows: build
	@tools/setup windows
	CARGO_PROFILE_DEV_OPT_LEVEL=0 tools/windows $(CARGO) build --locked -p tress --bin tress
	tools/windows tests/systems/run-windows

test-windows-crates:
	@tools/setup windows
	tools/windows $(CARGO) test --locked --no-fail-fast -p tress -p tress-container -p tress-transfer -p tress-sign --lib --bins
	tools/windows $(CARGO) test --locked --no-fail-fast -p tress -p tress-container --test all -- container:: pipeline:: raw:: damage::

# Only the command is built for other systems: the library's tests run the same code everywhere.
test-systems: build
	@tools/setup targets
	tools/systems
	$(CARGO) check --locked -p tress --target aarch64-apple-darwin

PACKAGES := $(CURDIR)/target/packages
PROGRAMS := tress tress-lab tress-simulate
packages: sbom
	@tools/setup packages
	mkdir -p $(PACKAGES)
	for name in $(PROGRAMS); do \
	    deb=$$(packaging/deb "$$(PROGRAM=$$name packaging/build)" $(PACKAGES)) && DEB=$$deb tests/packaging/package.py || exit 1; \
	done
	$(SUMS)

# The files of a release, in target/packages, with checksums signed by KEY. docs/contributing/releases.md says how users verify them.
SUMS = cd $(PACKAGES) && sha256sum $$(find -maxdepth 1 -name 'tress*' -type f -printf '%f\n' | LC_ALL=C sort) > SHA256SUMS
NAME := tress-$(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
release:
	@test -r "$(KEY)" || { echo 'make release: name a private key, KEY=FILE' >&2; exit 2; }
	@[ -z "$$(git status --porcelain)" ] || { echo 'make release: the source of a release is HEAD: commit or remove' >&2; git status --short >&2; exit 1; }
	rm -f $(PACKAGES)/tress*
	@$(MAKE) --no-print-directory packages test-pip
	git archive -o $(PACKAGES)/$(NAME)-source.tar --prefix=$(NAME)/ HEAD && gzip -9nf $(PACKAGES)/$(NAME)-source.tar
	cp target/pip/dist/* $(PACKAGES)
	$(SUMS)
	"$$(PROGRAM=tress packaging/build)" sign --force --key "$(KEY)" $(PACKAGES)/SHA256SUMS
	@cd $(PACKAGES) && find -maxdepth 1 -type f -name '[!.]*' -printf '%10s bytes  %f\n' | LC_ALL=C sort -k 3

# Packages of the debug build, which exists already.
test-packages: build
	@tools/setup packages
	rm -rf $(PACKAGES)/test && mkdir -p $(PACKAGES)/test
	packaging/stage $(TARGET)/debug/tress $(PACKAGES)/test/staged
	STAGED=$(PACKAGES)/test/staged tests/packaging/shells.py
	for name in $(PROGRAMS); do \
	    deb=$$(LEVEL=1 packaging/deb $(TARGET)/debug/$$name $(PACKAGES)/test) && PROFILE=debug DEB=$$deb tests/packaging/package.py || exit 1; \
	done

sbom:
	@tools/setup sbom
	@mkdir -p $(PACKAGES)
	packaging/sbom $(PACKAGES)/tress.cdx.json

reproducible:
	@tools/setup packages
	tools/reproducible

# The Python packages from the workspace's build. test-pip builds them with pip.
python: build
	@tools/setup python
	@tools/python

# ruff needs no build, so it comes first.
lint-python:
	@tools/setup python
	$(VENV)/bin/ruff check --no-cache python riscv/python tools/pip tools/clients
	@$(MAKE) --no-print-directory python
	MYPYPATH=python:python/dataset:tests/python $(VENV)/bin/mypy --strict --no-error-summary python/tress python/tests python/dataset/tress_dataset
	MYPYPATH=python:python/dataset:tests/python:python/dataset/tests $(VENV)/bin/mypy --strict --no-error-summary python/dataset/tests
	MYPYPATH=riscv/python $(VENV)/bin/mypy --strict --no-error-summary riscv/python/tress_simulate riscv/python/tests
	MYPYPATH=python:tests/python $(VENV)/bin/python -m mypy.stubtest tress._tress --ignore-disjoint-bases
	$(VENV)/bin/python -W error::UserWarning -m pdoc --output-directory target/doc/python tress tress_dataset tress_simulate

test-python: python
	TRESS=$(TARGET)/debug/tress $(PYTEST) -n 4 -m "not cross" tests/python

# Drawing, figures, keyboard, accessibility, sizes, print.
test-page: build
	@tools/setup page
	TRESS=$(TARGET)/debug/tress $(PYTEST) -n 4 tests/report

# See docs/reference/c.md. A test of test-rust compares the header with the source.
test-c: build
	@tools/setup c
	TRESS=$(TARGET)/debug/tress READER_PYTHON=$(CURDIR)/$(VENV)/bin/python MEMORY_SCAN=$(TARGET)/debug/examples/memory_scan $(MAKE) -C crates/c check PROFILE=dev BUILD=true

# Four in parallel: most of them wait for servers, workers and disks.
test-wheel: python
	MEMORY_SCAN=$(TARGET)/debug/examples/memory_scan $(PYTEST) -n 4 python/tests
	$(PYTEST) -n 4 riscv/python/tests

test-dataset: python
	@tools/setup dataset
	$(PYTEST) -n 4 python/dataset/tests

clients:
	@tools/setup clients
	tools/clients

# In a new environment, as users install it.
test-pip:
	@tools/setup dataset
	tools/pip

PRODUCT := -p tress-cipher -p tress-ccm -p tress-ccm-05 -p tress-lanes -p tress-modular -p tress-sign -p tress-container -p tress-plan -p tress-transfer -p tress-terminal -p tress
check:
	tools/words
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked $(PRODUCT) --all-targets -- -D warnings
	$(CARGO) test --locked $(PRODUCT) --lib --bins

# What takes a second comes before what compiles.
lint:
	tools/words
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

# Tests of test-python check its links and run its commands; this shows it.
book:
	@tools/setup book
	@mkdir -p target
	mdbook build docs >target/book.log 2>&1 || { cat target/book.log; exit 1; }
	@cat target/book.log; if grep -qE 'WARN|ERROR' target/book.log; then exit 1; fi

deny:
	@tools/setup deny
	$(CARGO) deny --locked check licenses bans sources

# The release build, since assertions of the debug build branch.
secrets:
	@tools/setup secrets
	$(CARGO) test --release --locked -p tress-cipher -p tress-modular -p tress-sign --features secrets --test secrets
	$(CARGO) test --release --locked -p tress-machine-code --features secrets

# A dry run; nothing is uploaded.
publishing:
	@tools/publishing

PUBLISHED := tress-ccm tress-ccm-05 tress-cipher tress tress-container tress-lanes tress-modular tress-plan tress-sign tress-terminal tress-transfer tress-sim tress-simulate
publishable:
	$(CARGO) package --locked --no-verify --allow-dirty $(PUBLISHED:%=-p %)

# The commit of the last release. 0.2.0 was not published: interfaces are held to this commit of it. From 0.2 to 0.3 every change is
# permitted, so this compares nothing until the commit is that of 0.3.0; --release-type minor lists what 0.3.0 changes.
RELEASED := 9d810a6bb4c6
semver:
	@tools/setup semver
	$(CARGO) semver-checks --baseline-rev $(RELEASED) $(addprefix -p ,$(filter-out tress tress-simulate,$(PUBLISHED)))

leaks:
	$(CARGO) run --release --locked -p tress-lab --example leaks

# aarch64 has instructions for AES, s390x is big-endian.
QEMU = $(CARGO) --config tools/cross.toml test --locked -p tress-cipher -p tress-lanes -p tress-modular -p tress-arithmetic --lib --test all \
    -F tress-cipher/chacha20poly1305,tress-cipher/gcm $(1:%=--target %-unknown-linux-gnu) -- vectors:: missing_backends modulus:: add:: algorithms:: kernels_agree gcm:: every_process
qemu:
	@tools/setup test-targets
	$(call QEMU,aarch64 s390x)

qemu-all:
	@tools/setup qemu
	$(call QEMU,aarch64 s390x riscv64gc i686)

firmware: build
	@tools/setup firmware
	@tools/setup python
	TRESS=$(TARGET)/debug/tress $(PYTEST) -m cross tests/python/test_book.py
	PYTHON=$(CURDIR)/$(VENV)/bin/python riscv/firmware/check

generators:
	tools/vectors/check

firmware-qemu:
	@tools/setup firmware
	riscv/firmware/test

rtl-check:
	@tools/rtl/check

miri:
	@tools/setup miri
	MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) +nightly miri test --locked -p tress-cipher --test all --target-dir target/miri -- memory::
	MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) +nightly miri test --locked -p tress-modular --test all --target-dir target/miri -- memory::

bench:
	@bench/run

# Minutes in total, divided among the targets.
MINUTES ?= 5
fuzz:
	@tools/setup fuzz
	fuzz/run --minutes $(MINUTES) $(if $(FUZZ_JOBS),--jobs $(FUZZ_JOBS)) $(if $(RECORD),--record) $(TARGETS)

dos:
	@tools/setup dos
	@lab/systems/dos/run

systems:
	@lab/systems/run

soak: nightly test-windows-crates reproducible test-dataset
	TRESS_SOAK=1 $(PYTEST) -s python/dataset/tests -k scheduling
	$(CARGO) check --locked --workspace --exclude tress-peers --exclude tress-lab --exclude tress-fuzz --exclude tress --target aarch64-unknown-linux-gnu
	PROPTEST_CASES=20000 $(CARGO) test --release --locked -p tress-cipher
	TRESS_EVERY_BIT=1 $(CARGO) test --release --locked -p tress-container --test all -- --nocapture every_bit::
	TRESS_EVERY_FAULT=1 $(CARGO) test --release --locked -p tress-container -p tress-transfer --lib -- --nocapture fault power any_receiver
	TRESS_EVERY_FAULT=1 $(CARGO) test --release --locked -p tress -p tress-lab -p tress-simulate --test all -- --nocapture fault
	TRESS_SOAK=1 $(CARGO) test --release --locked -p tress-lab --test all -- --nocapture links::
	$(CARGO) test --release --locked -p tress --test all -- memory::
	TRESS_CPU=-avx512 PROPTEST_CASES=2000 $(CARGO) test --release --locked -p tress-cipher
	TRESS_CPU=-avx512 $(CARGO) test --release --locked -p tress-modular --test all -- lanes:: cpu::
	TRESS_CPU=-aes PROPTEST_CASES=2000 $(CARGO) test --release --locked -p tress-cipher
	$(CARGO) build --release --locked -p tress --bin tress
	tests/load/receive.py --tress target/release/tress
	tests/load/pipes.py --tress target/release/tress
	$(CARGO) run --release --locked -p tress-c --example lanes_ratio
	@echo "make soak: all done"

# /usr/local for root, ~/.local for other users. DESTDIR is put before it, for packagers.
PREFIX ?= $(if $(filter 0,$(shell id -u)),/usr/local,$(HOME)/.local)
install:
	programs=$$(CARGO="$(CARGO)" tools/release tress $$(cd "$(TARGET)/release" 2>/dev/null && ls tress-lab tress-simulate 2>/dev/null)) && \
	echo "$$programs" | while read -r program; do packaging/stage "$$program" "$(DESTDIR)$(PREFIX)" || exit 1; done

uninstall:
	cd "$(DESTDIR)$(PREFIX)" && for name in $(PROGRAMS); do \
	    [ ! -e bin/$$name ] || { files=$$("$(CURDIR)/packaging/stage" --list bin/$$name) && rm -f $$files; } || exit 1; \
	done

clean:
	$(CARGO) clean
