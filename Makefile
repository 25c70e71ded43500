# make demo     a gigabyte encrypted and decrypted, beside what others need for it
# make test     everything that has to hold, from vectors to the command; what CI runs
# make test-page  pages of tress report in a browser; part of make test
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
# make fuzz     our modes against other people's, and all that reads from outside, on what a fuzzer finds; MINUTES=1 for
#               each target
# make dos      the times of arithmetic under MS-DOS, in DOSBox
# make systems  the times of arithmetic on every system that this machine can run or emulate, recorded
# make soak     the long runs

CARGO ?= cargo
VENV := target/venv
FIRMWARE := $(CURDIR)/target/firmware

.PHONY: all demo test test-rust test-python test-page wheel test-wheel test-dataset test-without check-targets lint deny miri secrets leaks qemu qemu-two firmware firmware-qemu rtl-check bench fuzz dos systems soak install clean tools

all:
	$(CARGO) build --release

demo:
	@$(CARGO) build --release --quiet --bin tress
	@tools/demo target/release/tress

test: tools lint deny test-rust test-without check-targets test-python test-page test-wheel test-dataset secrets qemu-two firmware
	@echo "make test: all done"

tools:
	@tools/setup test

# Vectors, properties, pipeline, command.
test-rust:
	$(CARGO) test --workspace --locked --no-fail-fast

# The same on builds that never see AES instructions, and none of those that numbers use; make soak has those between.
test-without:
	RUSTFLAGS="--cfg tress_without_aesni" $(CARGO) test --locked -p tress-cipher --test vectors --target-dir target/without-aesni
	RUSTFLAGS="--cfg tress_without_avx512 --cfg tress_without_adx" $(CARGO) test --locked -p tress-modular --test one --test lanes --target-dir target/without-adx

# Other systems have to compile from the first day. What differs on aarch64 is built by qemu-two; make soak checks the rest.
check-targets:
	$(CARGO) check --locked --workspace --exclude tress-peers --exclude tress-lab --exclude tress --target x86_64-pc-windows-gnu

# An independent reader and writer of the container.
test-python:
	@# The command as test-rust has built it.
	$(CARGO) test --workspace --locked --no-run
	tools/setup python $(VENV)
	TRESS=$(CURDIR)/target/debug/tress $(VENV)/bin/python -m pytest -q tests/python

# The page of a report in Chromium: drawn, figures as kept, keyboard, accessibility, sizes, paper.
test-page:
	$(CARGO) build --locked --bin tress
	tools/setup page $(VENV)-page
	TRESS=$(CURDIR)/target/debug/tress $(VENV)-page/bin/python -m pytest -q tests/report

# With the command as test-rust has built it: cargo would build its dependencies anew for fewer features.
wheel:
	$(CARGO) test --workspace --locked --no-run
	tools/setup wheel target/wheel-venv
	PATH=$(CURDIR)/target/wheel-venv/bin:$$PATH TRESS_COMMAND=$(CURDIR)/target/debug/tress pip install --quiet --no-build-isolation --no-deps \
	    --force-reinstall --config-settings=build-args=--profile=dev .

test-wheel: wheel
	target/wheel-venv/bin/python -m pytest -q python/tests --ignore=python/tests/dataset

test-dataset: wheel
	tools/setup dataset target/wheel-venv
	target/wheel-venv/bin/python -m pytest -q --timeout 300 python/tests/dataset

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
	RUSTFLAGS="--cfg tress_secrets" $(CARGO) test --release --locked -p tress-cipher --test secrets --test machine_code --target-dir target/secrets
	RUSTFLAGS="--cfg tress_secrets" $(CARGO) test --release --locked -p tress-modular --test secrets --test machine_code --target-dir target/secrets
	RUSTFLAGS="--cfg tress_secrets" $(CARGO) test --release --locked -p tress-sign --test secrets --target-dir target/secrets

leaks:
	$(CARGO) run --release --locked -p tress-lab --example leaks

qemu:
	@tools/setup qemu
	@tools/qemu $(CARGO) test --locked -p tress-cipher --test vectors --target-dir target/qemu
	@tools/qemu $(CARGO) test --locked -p tress-modular --test modulus --test algorithms --target-dir target/qemu

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

MINUTES ?= 1
fuzz:
	@tools/setup fuzz
	@# Each of fuzz/ alone, so that the quick ones do not wait for the slow ones to compile.
	for folder in $$(dirname fuzz/*/Cargo.toml); do \
	    for target in $$(cd $$folder && $(CARGO) +nightly fuzz list --fuzz-dir .); do \
	        $(CARGO) +nightly fuzz run --fuzz-dir $$folder $$target -- -max_total_time=$$((60 * $(MINUTES))) || exit; \
	    done; \
	done

dos:
	@tools/setup dos
	@systems/dos/run

systems:
	@systems/run

soak: qemu miri firmware-qemu test-dataset
	TRESS_SOAK=1 target/wheel-venv/bin/python -m pytest -q -s python/tests/dataset -k scheduling
	$(CARGO) check --locked --workspace --exclude tress-peers --exclude tress-lab --exclude tress --target aarch64-unknown-linux-gnu
	PROPTEST_CASES=20000 $(CARGO) test --release --locked -p tress-cipher
	RUSTFLAGS="--cfg tress_without_avx512" PROPTEST_CASES=2000 $(CARGO) test --release --locked -p tress-cipher --target-dir target/without-avx512
	RUSTFLAGS="--cfg tress_without_avx512" $(CARGO) test --release --locked -p tress-modular --test lanes --target-dir target/without-avx512
	RUSTFLAGS="--cfg tress_without_aesni" PROPTEST_CASES=2000 $(CARGO) test --release --locked -p tress-cipher --target-dir target/without-aesni
	@echo "make soak: all done"

install:
	$(CARGO) install --locked --path crates/cli

clean:
	$(CARGO) clean
