"""A reader and writer of tree streams, written from docs/reference/formats/container.md, "Trees", alone.

Shares no code with Python's `tarfile`, holds everything in memory, and applies the rules of Unix to names. Like
tress_reader.py, it is meant to be simple and independent.

    tress_tree.py IDENTITY_FILE CONTAINER       lists the entries of a container of type `tree`
"""

import dataclasses
import os
import re
import stat
import sys

BLOCK = 512
MAX_EXTENSION = 1 << 20
MAX_PATH = 4095
MAX_OCTAL = 8**11 - 1
NANOSECONDS = 10**9

# Offset and length in bytes of each field of a header, from the page's table.
FIELDS = {
    "name": (0, 100),
    "mode": (100, 8),
    "uid": (108, 8),
    "gid": (116, 8),
    "size": (124, 12),
    "mtime": (136, 12),
    "chksum": (148, 8),
    "typeflag": (156, 1),
    "linkname": (157, 100),
    "magic": (257, 6),
    "version": (263, 2),
    "uname": (265, 32),
    "gname": (297, 32),
    "devmajor": (329, 8),
    "devminor": (337, 8),
    "prefix": (345, 155),
}
USTAR = b"ustar\x0000"
GNU = b"ustar  \0"


class TreeError(Exception):
    """`kind` is a name from the page."""

    def __init__(self, kind, why):
        super().__init__(f"{kind}: {why}")
        self.kind = kind


@dataclasses.dataclass
class Entry:
    """`names` are the components below the root, empty for the root itself. The time is in nanoseconds since 1970."""

    names: tuple
    kind: str
    mode: int
    time_ns: int
    data: bytes = b""
    target: bytes = b""


# Writing


def octal(number, size):
    return b"%0*o\0" % (size - 1, number)


def binary(number, size):
    """A number in GNU tar's form: two's complement, with the first bit set even if the number is not negative."""
    data = bytearray((number % (1 << 8 * size)).to_bytes(size, "big"))
    data[0] |= 0x80
    return bytes(data)


def fill(data):
    return data + bytes(-len(data) % BLOCK)


def header(**values):
    """A header with these fields, and with its checksum if that is not given."""
    block = bytearray(BLOCK)
    for name, value in {"chksum": b" " * 8, "magic": USTAR[:6], "version": USTAR[6:], **values}.items():
        start, size = FIELDS[name]
        assert len(value) <= size, name
        block[start : start + len(value)] = value
    if "chksum" not in values:
        block[148:156] = octal(sum(block), 8)
    return bytes(block)


def record(key, value):
    rest = len(key) + len(value) + 3
    length = rest + len(str(rest))
    if len(str(length)) > len(str(rest)):
        length = rest + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


def is_utf8(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def format_time(time_ns):
    seconds, rest = divmod(abs(time_ns), NANOSECONDS)
    sign = "-" if time_ns < 0 else ""
    return f"{sign}{seconds}.{rest:09}".encode() if rest else f"{sign}{seconds}".encode()


def write_entry(entry):
    flag = {"folder": b"5", "file": b"0", "link": b"2"}[entry.kind]
    path = b"/".join(entry.names) if entry.names else b"."
    if entry.kind == "folder":
        path += b"/"
    size, seconds = len(entry.data), entry.time_ns // NANOSECONDS
    long = [(key, name) for key, name in ((b"path", path), (b"linkpath", entry.target)) if len(name) > 100]
    records = record(b"hdrcharset", b"BINARY") if not all(is_utf8(name) for _, name in long) else b""
    records += b"".join(record(key, name) for key, name in long)
    if size > MAX_OCTAL:
        records += record(b"size", b"%d" % size)
    if entry.time_ns % NANOSECONDS or not 0 <= seconds <= MAX_OCTAL:
        records += record(b"mtime", format_time(entry.time_ns))
    owner = {"uid": octal(0, 8), "gid": octal(0, 8)}
    output = b""
    if records:
        times = {"mode": octal(0o644, 8), "mtime": octal(0, 12), "size": octal(len(records), 12)}
        output = header(name=b"PaxHeaders/entry", typeflag=b"x", **times, **owner) + fill(records)
    return (
        output
        + header(
            name=path[:100],
            mode=octal(entry.mode, 8),
            size=octal(size, 12) if size <= MAX_OCTAL else binary(size, 12),
            mtime=octal(min(max(seconds, 0), MAX_OCTAL), 12),
            typeflag=flag,
            linkname=entry.target[:100],
            **owner,
        )
        + fill(entry.data)
    )


def write(entries):
    return b"".join(map(write_entry, entries)) + bytes(2 * BLOCK)


def pack(root):
    """The entries of a folder, in the order of a writer. Uses handles, since paths may be too long for one call."""
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        status = os.fstat(handle)
        yield Entry((), "folder", status.st_mode & 0o777, status.st_mtime_ns)
        yield from pack_below(handle, ())
    finally:
        os.close(handle)


def pack_below(handle, parents):
    for name in sorted(map(os.fsencode, os.listdir(handle))):
        names = (*parents, name)
        status = os.lstat(name, dir_fd=handle)
        entry = Entry(names, "file", status.st_mode & 0o777, status.st_mtime_ns)
        if stat.S_ISLNK(status.st_mode):
            entry.kind, entry.target = "link", os.readlink(name, dir_fd=handle)
            yield entry
            continue
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=handle)
        try:
            if stat.S_ISDIR(status.st_mode):
                entry.kind = "folder"
                yield entry
                yield from pack_below(opened, names)
            else:
                with open(opened, "rb", closefd=False) as file:
                    entry.data = file.read()
                yield entry
        finally:
            os.close(opened)


# Reading


def damaged(why):
    return TreeError("TreeDamaged", why)


def number(field, allows_binary):
    if allows_binary and field[0] & 0x80:
        value = int.from_bytes(field[4:], "big")
        if field[:4] == b"\x80\0\0\0":
            return value
        if field[:4] == b"\xff\xff\xff\xff" and field[4] & 0x80:
            return value - (1 << 64)
        raise damaged("binary number")
    match = re.fullmatch(rb" *([0-7]+) *(?:\0.*)?", field, re.DOTALL)
    if not match:
        raise damaged("number")
    return int(match[1], 8)


def parse_time(text):
    match = re.fullmatch(rb"(-?)([0-9]+)(?:\.([0-9]*))?", text)
    if not match or int(match[2]) >= 1 << 63:
        raise damaged("mtime")
    fraction = match[3] or b""
    time_ns = int(match[2]) * NANOSECONDS + int(fraction[:9].ljust(9, b"0"))
    if not match[1]:
        return time_ns
    # Digits beyond nanoseconds are rounded towards the past.
    return -time_ns - (fraction[9:].strip(b"0") != b"")


def parse_records(data):
    while data:
        length, space, _ = data[:20].partition(b" ")
        if not space or not re.fullmatch(rb"[0-9]+", length) or int(length) > len(data):
            raise damaged("length of a record")
        text, data = data[len(length) + 1 : int(length)], data[int(length) :]
        key, equals, value = text[:-1].partition(b"=")
        if text[-1:] != b"\n" or not equals or not key:
            raise damaged("record")
        yield key, value


class Stream:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if len(self.data) - self.at < size:
            raise damaged("ends before its end mark")
        self.at += size
        return self.data[self.at - size : self.at]

    def take_filled(self, size):
        data = self.take(size)
        if any(self.take(-size % BLOCK)):
            raise damaged("fill is not zero")
        return data


def fields_of(block):
    fields = {name: block[start : start + size] for name, (start, size) in FIELDS.items()}
    if number(fields["chksum"], False) != sum(block) - sum(fields["chksum"]) + 8 * 32:
        raise damaged("checksum")
    if fields["magic"] + fields["version"] not in (USTAR, GNU):
        raise damaged("neither ustar nor GNU tar")
    return fields


def read_extension(stream, flag, size, known):
    """Adds the records of an extended header, which apply to the next entry, to `known`."""
    if size < 0 or size > MAX_EXTENSION:
        raise damaged("size of an extended header")
    data = stream.take_filled(size)
    if flag == b"x" and known or b"x" in known:
        raise damaged("two extended headers")
    known[flag] = True
    if flag != b"x":
        pairs = [(b"path" if flag == b"L" else b"linkpath", data[:-1] if data[-1:] == b"\0" else data)]
    else:
        pairs = parse_records(data)
    for key, value in pairs:
        if key.startswith(b"GNU.sparse."):
            raise TreeError("TreeSpecialFile", "sparse")
        if key == b"size":
            if not re.fullmatch(rb"[0-9]+", value) or int(value) >= 1 << 64:
                raise damaged("size")
            value = int(value)
        elif key == b"mtime":
            value = parse_time(value)
        elif key not in (b"path", b"linkpath"):
            continue
        if key in known:
            raise damaged("said twice")
        known[key] = value


def cut(field):
    return field.partition(b"\0")[0]


def split(path, kind):
    """The names of an entry's path."""
    if not 1 <= len(path) <= MAX_PATH or b"\0" in path or path.startswith(b"/"):
        raise TreeError("TreePath", path)
    if path == b"./" and kind == "folder":
        return ()
    path = path.removeprefix(b"./")
    if kind == "folder":
        path = path.removesuffix(b"/")
    names = tuple(path.split(b"/"))
    if any(name in (b"", b".", b"..") for name in names):
        raise TreeError("TreePath", path)
    return names


def check_target(target, depth):
    """Checks the target of a link that is `depth` folders below the root."""
    names = target.split(b"/")
    above = 0
    while above < len(names) and names[above] == b"..":
        above += 1
    good = 1 <= len(target) <= MAX_PATH and b"\0" not in target and not target.startswith(b"/")
    if not good or above > depth or b".." in names[above:]:
        raise TreeError("TreeLink", target)


def next_entry(stream):
    """Reads the next entry, or None after the end mark."""
    known = {}
    while True:
        block = stream.take(BLOCK)
        if not any(block):
            rest = stream.data[stream.at :]
            if known or len(rest) < BLOCK or len(rest) % BLOCK or any(rest):
                raise damaged("end")
            return None
        fields = fields_of(block)
        size = number(fields["size"], True)
        flag = fields["typeflag"]
        if flag not in (b"x", b"L", b"K"):
            break
        read_extension(stream, flag, size, known)

    kind = {b"0": "file", b"\0": "file", b"5": "folder", b"2": "link"}.get(flag)
    if kind is None:
        raise TreeError("TreeSpecialFile", flag)
    path = known.get(b"path")
    if path is None:
        prefix = cut(fields["prefix"]) if fields["magic"] == USTAR[:6] else b""
        path = (prefix + b"/" if prefix else b"") + cut(fields["name"])
    pax_size = known.get(b"size", size)
    if pax_size != size and pax_size <= MAX_OCTAL or pax_size < 0:
        raise damaged("two sizes")
    if kind != "file" and pax_size:
        raise damaged("data of a folder or link")
    time_ns = known.get(b"mtime")
    if time_ns is None:
        seconds = number(fields["mtime"], True)
        if seconds >= 1 << 63:
            raise damaged("mtime")
        time_ns = seconds * NANOSECONDS
    target = known.get(b"linkpath", cut(fields["linkname"])) if kind == "link" else b""
    entry = Entry(split(path, kind), kind, number(fields["mode"], False) & 0o777, time_ns, target=target)
    if kind == "link":
        check_target(target, len(entry.names) - 1)
    entry.data = stream.take_filled(pax_size)
    return entry


def read(data):
    """The entries of a tree stream."""
    stream, entries = Stream(data), []
    # The path of open folders from the root to the last one: name, and the kinds of the names in it.
    open_folders = [(b"", {})]
    while (entry := next_entry(stream)) is not None:
        if not entry.names:
            if entries:
                raise TreeError("TreeDuplicate" if entries[0].names == () else "TreeDamaged", "late root")
            entries.append(entry)
            continue
        *parents, name = entry.names
        shared = 0
        while shared < min(len(parents), len(open_folders) - 1) and open_folders[shared + 1][0] == parents[shared]:
            shared += 1
        if shared < len(parents):
            is_link = open_folders[shared][1].get(parents[shared]) == "link"
            raise TreeError("TreeLink" if is_link else "TreeDamaged", "does not follow its folder")
        del open_folders[shared + 1 :]
        siblings = open_folders[-1][1]
        if name in siblings:
            raise TreeError("TreeDuplicate", name)
        siblings[name] = entry.kind
        if entry.kind == "folder":
            open_folders.append((name, {}))
        entries.append(entry)
    return entries


def main():
    import pyrage

    import tress_reader

    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        secret = next(line.strip() for line in file if line.startswith("AGE-SECRET-KEY-1"))
    with open(sys.argv[2], "rb") as file:
        container = file.read()
    try:
        plaintext, kind, _ = tress_reader.decrypt(container, pyrage.x25519.Identity.from_str(secret))
        if kind != b"tree":
            sys.exit(f"tress_tree: {sys.argv[2]}: not a tree")
        for entry in read(plaintext):
            size = entry.target if entry.kind == "link" else len(entry.data)
            print(entry.kind, oct(entry.mode), format_time(entry.time_ns).decode(), ascii(entry.names), ascii(size))
    except (TreeError, tress_reader.ContainerError) as error:
        sys.exit(f"tress_tree: {sys.argv[2]}: {str(error)!a}")


if __name__ == "__main__":
    main()
