"""Calls kernels for 32-bit RISC-V under QEMU's user emulation, and checks that they follow the calling convention."""

import os
import pathlib
import struct
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
KERNELS = ROOT / "crates/cipher/src/ciphers"
STACK_LIMIT = 256


def built(name):
    """The path of a program of this folder's package, after `riscv/firmware/build` has brought it up to date."""
    subprocess.run([ROOT / "riscv/firmware/build", "--tests"], check=True)
    target = ROOT / "riscv/firmware" / os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    return str(target / "firmware/riscv32imac-unknown-none-elf/release" / name)


class Buffer:
    """Bytes at an offset `off` from a word boundary. Kind "h": not passed as an argument; "r": pointers into the previous buffer."""

    def __init__(self, content, off=0, kind="b"):
        self.content, self.off, self.kind = bytes(content), off, kind.encode()


class Into:
    """An address at an offset into the previous buffer."""

    def __init__(self, offset):
        self.offset = offset


class Target:
    """Functions to call, from kernels in some files or, without files, from the library."""

    def __init__(self, files, functions, march="rv32imac", qemu=(), stack_limit=STACK_LIMIT):
        self.functions, self.stack_limit = list(functions), stack_limit
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        kernels = folder / "kernels.S"
        kernels.write_text("".join((KERNELS / name).read_text() for name in files))
        build = "build" if march == "rv32imac" else f"build/{march}"
        library = ROOT / "riscv/firmware/library" / build / "libtress_rv32.a"
        if not files:
            subprocess.run(["make", "-s", "-C", str(ROOT / "riscv/firmware/library"), f"B={build}",
                            f"ARCH=-march={march} -mabi=ilp32"], check=True, stdout=subprocess.DEVNULL)
        (folder / "functions.h").write_text("".join(f"FUNCTION({name})\n" for name in self.functions))
        self.program = folder / "target"
        command = ["riscv64-unknown-elf-gcc", f"-march={march}", "-mabi=ilp32", "-O1", "-nostdlib", "-static", "-ffreestanding",
                   f"-I{folder}", str(HERE / "call.S"), str(HERE / "target.c"), str(library if not files else kernels), "-Wl,--gc-sections,--no-warn-rwx-segments", "-o",
                   str(self.program), "-lgcc"]
        subprocess.run(command, check=True)
        self.process = subprocess.Popen(["qemu-riscv32", *qemu, str(self.program)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.stack = {}

    def call(self, name, *arguments):
        """Calls a function; returns its result and the buffers afterwards. Numbers are passed unchanged."""
        request = bytearray([self.functions.index(name), len(arguments)])
        for argument in arguments:
            if isinstance(argument, Buffer):
                request += argument.kind + struct.pack("<IB", len(argument.content), argument.off) + argument.content
            elif isinstance(argument, Into):
                request += b"o" + struct.pack("<I", argument.offset)
            else:
                request += b"n" + struct.pack("<I", argument & 0xFFFFFFFF)
        self.process.stdin.write(request)
        self.process.stdin.flush()
        changed, stack, outside, result = struct.unpack("<4I", self.read(16))
        buffers = [self.read(len(a.content)) for a in arguments if isinstance(a, Buffer)]
        assert changed == 0, f"{name} changed registers {changed:#x}"
        assert outside == 0, f"{name} wrote outside a buffer"
        assert stack <= self.stack_limit, f"{name} used {stack} bytes of stack"
        self.stack[name] = max(self.stack.get(name, 0), stack)
        return result, buffers

    def read(self, count):
        data = self.process.stdout.read(count)
        assert len(data) == count, "the target ended"
        return data
