# make          the command, optimised; the last line is where it is
# make demo     what the command does, on a gigabyte in memory, and its rates beside openssl and age
# make check    format, clippy and unit tests of the product: two minutes once it is built
# make test     everything that has to hold, from vectors to the command; what CI runs
# make test-page  pages of tress report in a browser; part of make test
# make test-c   libtress and tress.h: C and C++ programs under sanitizers, OpenSSL, examples, documentation; part of make test
# make test-dataset  many objects, on folders and a real S3 server, by processes, Dask and Parsl; part of make test
# make test-wheel  the Python package: built, and tested as it is installed; part of make test
# make lint     formatting, clippy, documentation
# make deny     licences, bans and sources of what we stand on
# make bench    the measured rows of the README, recorded under bench/record/
# make miri     the portable code under Miri; part of make soak
# make secrets  no branch and no address depends on a key or on data: under Valgrind, and by an interpreter of what it does
#               not know
# make leaks    the same by measuring times
# make qemu     the vectors on other processors: aarch64, riscv64, i686, and s390x, which is big-endian; make test takes the
#               first and the last
# make firmware  programs for bare RISC-V: that the images we keep are what builds; the kernels for 32 bits under QEMU
# make firmware-qemu  every console, both widths and several harts of the programs under QEMU; part of make soak
# make rtl-check  the same programs' kernels on a core as RTL, whose cycles are kept for the tests of the simulator
# make fuzz     what a fuzzer finds, for MINUTES=5 in all, on FUZZ_JOBS cores or on all; TARGETS="keys tree" are these only, RECORD=1
#               keeps the figures; part of make test
# make dos      the times of arithmetic under MS-DOS, in DOSBox
# make test-windows  the command for Windows under Wine: what it makes opens here, and the other way round; part of make test
# make test-systems  the same for a static build (musl), aarch64, riscv64 and s390x; macOS compiles; part of make soak
# make packages  what is released: the Debian package, the bill of materials, checksums, in target/packages
# make test-packages  a package of the debug build: lintian, installed, run and removed; completions in their shells; part of make test
# make sbom     the bill of materials, held against what cargo compiles in
# make reproducible  two builds in two folders give the same bytes; part of make soak
# make install  the command with manual pages and completions below PREFIX; make uninstall takes them away
# make systems  the times of arithmetic on every system that this machine can run or emulate, recorded
# make soak     the long runs

CARGO ?= cargo
# What is built once is not built faster by notes for the next time.
ifdef CI
export CARGO_INCREMENTAL := 0
endif
VENV := target/venv
FIRMWARE := $(CURDIR)/target/firmware

.PHONY: all demo check test test-rust test-python test-page test-c wheel wheel-tests test-wheel test-dataset test-without check-targets lint deny miri secrets leaks qemu qemu-two firmware firmware-qemu rtl-check bench fuzz dos systems soak install clean tools test-windows test-windows-crates test-systems packages test-packages sbom reproducible uninstall

# The command; demo and install share the build.
all:
	@CARGO="$(CARGO)" tools/release

demo:
	@tools/setup demo
	@CARGO="$(CARGO)" tools/demo

# Two rows side by side: what needs the command as test-rust builds it, and what is built elsewhere or late. The other row leaves
# one core to the fuzzers.
test: export FUZZ_JOBS := 1
test: tools
	@tools/goals "lint test-rust wheel-tests test-python test-packages" \
	    "deny test-without fuzz secrets qemu-two firmware test-page check-targets test-windows test-c"

# The command as test-rust has built it: building it alone would build its dependencies anew, for fewer features.
AS_TESTED = $(CARGO) test --workspace --locked --no-run

tools:
	@tools/setup test

# Vectors, properties, pipeline, command.
test-rust:
	$(CARGO) test --workspace --locked --no-fail-fast

# The same on builds that never see AES instructions, and none of those that numbers use; make soak has those between.
test-without:
	RUSTFLAGS="--cfg tress_without_aesni" $(CARGO) test --locked -p tress-cipher --test vectors --target-dir target/without-aesni
	RUSTFLAGS="--cfg tress_without_avx512 --cfg tress_without_adx" $(CARGO) test --locked -p tress-modular --test one --test lanes --target-dir target/without-adx

# Other systems have to compile from the first day. What differs on aarch64 is built by qemu-two, Windows by test-windows; make soak
# checks the rest.
check-targets:
	@tools/setup targets
	$(CARGO) check --locked -p tress --target aarch64-apple-darwin

# The command, built in half the time without optimisation; make soak has the tests of the crates beneath it that do not ask for unix.
test-windows:
	@tools/setup windows
	$(AS_TESTED)
	CARGO_PROFILE_DEV_OPT_LEVEL=0 tools/windows $(CARGO) build --locked --bin tress
	tools/windows tests/systems/run-windows

WINDOWS_TESTS := --test container --test pipeline --test raw --test damage
test-windows-crates:
	@tools/setup windows
	tools/windows $(CARGO) test --locked --no-fail-fast -p tress -p tress-stream -p tress-sign --lib --bins $(WINDOWS_TESTS)

# The library's tests are the same code on all of these; what is built for others is the command.
test-systems:
	@tools/setup targets
	$(AS_TESTED)
	tools/systems
	$(CARGO) check --locked -p tress --target x86_64-apple-darwin

PACKAGES := $(CURDIR)/target/packages
packages: sbom
	@tools/setup packages
	mkdir -p $(PACKAGES)
	packaging/deb "$$(packaging/build)" $(PACKAGES)
	DEB=$$(ls -t $(PACKAGES)/tress_*.deb | head -1) tests/packaging/package.py
	cd $(PACKAGES) && sha256sum tress_*.deb tress.cdx.json > SHA256SUMS

# Of the debug build, which is there already.
test-packages:
	@tools/setup packages
	$(AS_TESTED)
	rm -rf $(PACKAGES)/test && mkdir -p $(PACKAGES)/test
	packaging/stage target/debug/tress $(PACKAGES)/test/staged
	STAGED=$(PACKAGES)/test/staged tests/packaging/shells.py
	PROFILE=debug DEB=$$(LEVEL=1 packaging/deb target/debug/tress $(PACKAGES)/test) tests/packaging/package.py

sbom:
	@tools/setup sbom
	@mkdir -p $(PACKAGES)
	packaging/sbom $(PACKAGES)/tress.cdx.json

reproducible:
	@tools/setup packages
	tools/reproducible

# An independent reader and writer of the container.
test-python:
	$(AS_TESTED)
	tools/setup python $(VENV)
	TRESS=$(CURDIR)/target/debug/tress $(VENV)/bin/python -m pytest -q tests/python

# The page of a report in Chromium: drawn, figures as kept, keyboard, accessibility, sizes, paper.
test-page:
	$(AS_TESTED)
	tools/setup page $(VENV)-page
	TRESS=$(CURDIR)/target/debug/tress $(VENV)-page/bin/python -m pytest -q tests/report

# The header is what the source says; the library is what the header says. docs/c.md has the rest.
test-c:
	@tools/setup c
	@tools/setup python $(VENV)
	$(AS_TESTED)
	TRESS=$(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/debug/tress READER_PYTHON=$(CURDIR)/$(VENV)/bin/python \
	    $(MAKE) -C crates/c check PROFILE=dev

wheel:
	$(AS_TESTED)
	tools/setup wheel target/wheel-venv
	PATH=$(CURDIR)/target/wheel-venv/bin:$$PATH TRESS_COMMAND=$(CURDIR)/target/debug/tress pip install --quiet --no-build-isolation --no-deps \
	    --force-reinstall --config-settings=build-args=--profile=dev .

# Four at a time: most of them wait, for servers, workers and disks.
test-wheel: wheel
	target/wheel-venv/bin/python -m pytest -q -n 4 python/tests --ignore=python/tests/dataset

test-dataset: wheel
	tools/setup dataset target/wheel-venv
	target/wheel-venv/bin/python -m pytest -q -n 4 --timeout 300 python/tests/dataset

# Both on one package.
wheel-tests: test-wheel test-dataset

PRODUCT := -p tress-cipher -p tress-modular -p tress-sign -p tress-stream -p tress
check:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked $(PRODUCT) --all-targets -- -D warnings
	$(CARGO) test --locked $(PRODUCT) --lib --bins

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

deny:
	@tools/setup deny
	$(CARGO) deny --locked check licenses bans sources

# What is released, not the debug build, whose assertions branch.
secrets:
	@tools/setup secrets
	RUSTFLAGS="--cfg tress_secrets" $(CARGO) test --release --locked -p tress-cipher -p tress-modular -p tress-sign \
	    --test secrets --test machine_code --target-dir target/secrets

leaks:
	$(CARGO) run --release --locked -p tress-lab --example leaks

qemu:
	@tools/setup qemu
	@tools/qemu $(CARGO) test --locked -p tress-cipher -p tress-modular --test vectors --test modulus --test algorithms --target-dir target/qemu

# Of these the one with instructions for AES, and the big-endian one.
qemu-two:
	@PROCESSORS="aarch64:aarch64 s390x:s390x" $(MAKE) qemu

firmware:
	@tools/setup firmware
	firmware/build --check
	tools/rv32-aes/generate --check
	$(MAKE) -C firmware/library test test-zbb test-aes check-image
	firmware/kernels-test/numbers.py
	cd firmware && $(CARGO) fmt --all --check
	cd firmware && $(CARGO) clippy --release --locked --target riscv64gc-unknown-none-elf --target-dir $(FIRMWARE)-clippy -- -D warnings
	cd firmware && $(CARGO) clippy --release --locked -p tress-devices -p tress-rv32 --target riscv32imac-unknown-none-elf --target-dir $(FIRMWARE)-clippy -- -D warnings

firmware-qemu:
	@tools/setup firmware
	firmware/test

rtl-check:
	@tools/rtl/check

miri:
	@tools/setup miri
	MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) +nightly miri test --locked -p tress-cipher --test memory --target-dir target/miri
	MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) +nightly miri test --locked -p tress-modular --test memory --target-dir target/miri

bench:
	@bench/run

# Minutes in all, divided among the targets.
MINUTES ?= 5
fuzz:
	@tools/setup fuzz
	fuzz/run --minutes $(MINUTES) $(if $(FUZZ_JOBS),--jobs $(FUZZ_JOBS)) $(if $(RECORD),--record) $(TARGETS)

dos:
	@tools/setup dos
	@systems/dos/run

systems:
	@systems/run

soak: qemu miri firmware-qemu test-systems test-windows-crates reproducible test-dataset
	TRESS_SOAK=1 target/wheel-venv/bin/python -m pytest -q -s python/tests/dataset -k scheduling
	$(CARGO) check --locked --workspace --exclude tress-peers --exclude tress-lab --exclude tress --target aarch64-unknown-linux-gnu
	PROPTEST_CASES=20000 $(CARGO) test --release --locked -p tress-cipher
	TRESS_EVERY_BIT=1 $(CARGO) test --release --locked -p tress-stream --test every_bit -- --nocapture
	TRESS_EVERY_FAULT=1 $(CARGO) test --release --locked -p tress-stream --lib -- --nocapture fault power any_receiver
	TRESS_EVERY_FAULT=1 $(CARGO) test --release --locked -p tress --test faults -- --nocapture
	$(CARGO) test --release --locked -p tress --test memory
	RUSTFLAGS="--cfg tress_without_avx512" PROPTEST_CASES=2000 $(CARGO) test --release --locked -p tress-cipher --target-dir target/without-avx512
	RUSTFLAGS="--cfg tress_without_avx512" $(CARGO) test --release --locked -p tress-modular --test lanes --target-dir target/without-avx512
	RUSTFLAGS="--cfg tress_without_aesni" PROPTEST_CASES=2000 $(CARGO) test --release --locked -p tress-cipher --target-dir target/without-aesni
	$(CARGO) build --release --locked --bin tress
	tests/load/receive.py --tress target/release/tress
	tests/load/pipes.py --tress target/release/tress
	$(CARGO) run --release --locked -p tress-lab --example load
	@echo "make soak: all done"

# Below /usr/local for root, ~/.local for others; DESTDIR stands before it for who packages.
PREFIX ?= $(if $(filter 0,$(shell id -u)),/usr/local,$(HOME)/.local)
install:
	program=$$(CARGO="$(CARGO)" tools/release) && packaging/stage "$$program" $(DESTDIR)$(PREFIX)

uninstall:
	files=$$(packaging/stage --list "$$(CARGO="$(CARGO)" tools/release)") && cd $(DESTDIR)$(PREFIX) && rm -f $$files

clean:
	$(CARGO) clean
