"""A reader and writer of trees, written from docs/reference/formats/container.md, "Trees" and "Index", alone.

A tree is the plaintext of a container: a tar stream, and in version 2 an index behind it. Shares no code with Python's
`tarfile`, holds everything in memory, and applies the rules of Unix to names. Like tress_reader.py, it is meant to be simple
and independent.

    tress_tree.py IDENTITY_FILE CONTAINER       lists the entries of a container of type `tree`
"""

import dataclasses
import errno
import itertools
import operator
import os
import re
import stat
import struct
import sys
from typing import NamedTuple

BLOCK = 512
MAX_EXTENSION = MAX_MAP = 1 << 20
MAX_PATH = 4095
MAX_NAME_OF_OWNER = 255
MAX_OCTAL = 8**11 - 1
MAX_OCTAL_OWNER = 8**7 - 1
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
    "nanoseconds": (500, 4),
}
USTAR = b"ustar\x0000"
GNU = b"ustar  \0"

KINDS = {b"0": "file", b"1": "hardlink", b"2": "link", b"3": "chardev", b"4": "blockdev", b"5": "folder", b"6": "fifo"}
KINDS_V1 = {b"0": "file", b"2": "link", b"5": "folder"}
FLAGS = {kind: flag for flag, kind in KINDS.items()}
DEVICES = ("chardev", "blockdev")
# Records whose values are names: bytes in any encoding.
NAMES = (b"path", b"linkpath", b"uname", b"gname", b"GNU.sparse.name")

ACL = b"SCHILY.acl."
ATTRIBUTE = b"SCHILY.xattr."
SPARSE = b"GNU.sparse."
SPARSE_KEYS = [SPARSE + key for key in (b"major", b"minor", b"name", b"realsize")]
# Names of the entries of an ACL, by their tags in Linux's binary form.
ACL_TAGS = {1: b"user", 2: b"user", 4: b"group", 8: b"group", 16: b"mask", 32: b"other"}


class TreeError(Exception):
    """`kind` is a name from the page."""

    def __init__(self, kind, why):
        super().__init__(f"{kind}: {why}")
        self.kind = kind


class Owner(NamedTuple):
    uid: int = 0
    gid: int = 0
    uname: bytes = b""
    gname: bytes = b""


class Sparse(NamedTuple):
    """Length of a file with its holes, and offset and length of each segment that is stored."""

    size: int
    segments: tuple


@dataclasses.dataclass
class Entry:
    """`names` are the components below the root, empty for the root itself. The time is in nanoseconds since 1970.

    `data` of a sparse file is that of its segments. `target` of a hard link is the path of its file. `acls` has the texts of
    `access` and `default`, `device` major and minor number. `place` is the number of blocks before the entry.
    """

    names: tuple
    kind: str
    mode: int
    time_ns: int
    data: bytes = b""
    target: bytes = b""
    owner: Owner = Owner()
    attributes: dict = dataclasses.field(default_factory=dict)
    acls: dict = dataclasses.field(default_factory=dict)
    device: tuple = (0, 0)
    sparse: Sparse | None = None
    place: int = dataclasses.field(default=0, compare=False)

    @property
    def path(self):
        return b"/".join(self.names)

    @property
    def size(self):
        return self.sparse.size if self.sparse else len(self.data)

    @property
    def content(self):
        """The data of a file with its holes."""
        if not self.sparse:
            return self.data
        content, at = bytearray(self.sparse.size), 0
        for offset, length in self.sparse.segments:
            content[offset : offset + length] = self.data[at : at + length]
            at += length
        return bytes(content)


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


def sparse_map(segments):
    return fill(b"%d\n" % len(segments) + b"".join(b"%d\n%d\n" % segment for segment in segments))


def records_of(entry, path, size, version):
    """The records of an entry, in the order of the page."""
    owner, seconds = entry.owner, entry.time_ns // NANOSECONDS
    if len(path) > 100 and not entry.sparse:
        yield b"path", path
    if len(entry.target) > 100:
        yield b"linkpath", entry.target
    if size > MAX_OCTAL:
        yield b"size", b"%d" % size
    if not 0 <= seconds <= MAX_OCTAL or version == 1 and entry.time_ns % NANOSECONDS:
        yield b"mtime", format_time(entry.time_ns)
    if version == 1:
        return
    for key, number in ((b"uid", owner.uid), (b"gid", owner.gid)):
        if number > MAX_OCTAL_OWNER:
            yield key, b"%d" % number
    for key, name in ((b"uname", owner.uname), (b"gname", owner.gname)):
        if len(name) > 31:
            yield key, name
    for key, text in sorted(entry.acls.items()):
        yield ACL + key, text
    for name, value in sorted(entry.attributes.items()):
        yield ATTRIBUTE + name.replace(b"%", b"%25").replace(b"=", b"%3D"), value
    if entry.sparse:
        yield from zip(SPARSE_KEYS, (b"1", b"0", path, b"%d" % entry.sparse.size), strict=True)


def write_entry(entry, version=2):
    path = entry.path or b"."
    if entry.kind == "folder":
        path += b"/"
    name, data, owner = path, entry.data, entry.owner
    if entry.sparse:
        name, data = b"GNUSparseFile.0/" + entry.names[-1], sparse_map(entry.sparse.segments) + data
    size, (seconds, nanoseconds) = len(data), divmod(entry.time_ns, NANOSECONDS)
    pairs = list(records_of(entry, path, size, version))
    if not all(is_utf8(value) for key, value in pairs if key in NAMES):
        pairs.insert(0, (b"hdrcharset", b"BINARY"))
    records = b"".join(itertools.starmap(record, pairs))
    nobody = {"uid": octal(0, 8), "gid": octal(0, 8)}
    output = b""
    if records:
        times = {"mode": octal(0o644, 8), "mtime": octal(0, 12), "size": octal(len(records), 12)}
        output = header(name=b"PaxHeaders/entry", typeflag=b"x", **times, **nobody) + fill(records)
    more = nobody
    if version == 2:
        uid, gid = (octal(number if number <= MAX_OCTAL_OWNER else 0, 8) for number in owner[:2])
        uname, gname = (name_ if len(name_) <= 31 else b"" for name_ in owner[2:])
        more = {"uid": uid, "gid": gid, "uname": uname, "gname": gname}
        if 0 <= seconds <= MAX_OCTAL:
            more["nanoseconds"] = nanoseconds.to_bytes(4, "big")
        if entry.kind in DEVICES:
            more |= {"devmajor": octal(entry.device[0], 8), "devminor": octal(entry.device[1], 8)}
    return (
        output
        + header(
            name=name[:100],
            mode=octal(entry.mode, 8),
            size=octal(size, 12) if size <= MAX_OCTAL else binary(size, 12),
            mtime=octal(min(max(seconds, 0), MAX_OCTAL), 12),
            typeflag=FLAGS[entry.kind],
            linkname=entry.target[:100],
            **more,
        )
        + fill(data)
    )


def write(entries, version=2):
    """The plaintext of a tree. Sets the places of the entries."""
    stream = b""
    for entry in entries:
        entry.place = len(stream) // BLOCK
        stream += write_entry(entry, version)
    stream += bytes(2 * BLOCK)
    return stream if version == 1 else stream + write_index(map(line_of, entries), len(stream))


def pack(root):
    """The entries of a folder, in the order of a writer. Uses handles, since paths may be too long for one call."""
    handle, files = os.open(root, os.O_RDONLY | os.O_DIRECTORY), {}
    try:
        yield describe(handle, b".", ())
        yield from pack_below(handle, (), files)
    finally:
        os.close(handle)


def pack_below(handle, parents, files):
    """`files` has the path of each file with several names, by device and inode."""
    for name in sorted(map(os.fsencode, os.listdir(handle))):
        entry = describe(handle, name, (*parents, name))
        if entry.kind == "link":
            entry.target = os.readlink(name, dir_fd=handle)
        if entry.kind not in ("file", "folder"):
            yield entry
            continue
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=handle)
        try:
            status = os.fstat(opened)
            if entry.kind == "folder":
                yield entry
                yield from pack_below(opened, entry.names, files)
                continue
            if status.st_nlink > 1:
                first = files.setdefault((status.st_dev, status.st_ino), entry.path)
                if first != entry.path:
                    yield dataclasses.replace(entry, kind="hardlink", target=first, attributes={}, acls={})
                    continue
            segments = segments_of(opened, status.st_size)
            entry.sparse = None if segments is None else Sparse(status.st_size, segments)
            pieces = [(0, status.st_size)] if segments is None else segments
            with open(opened, "rb", closefd=False) as file:
                for offset, length in pieces:
                    file.seek(offset)
                    entry.data += file.read(length)
            yield entry
        finally:
            os.close(opened)


def describe(handle, name, names):
    """The entry of a name in a folder, without what is stored behind the header and without its target."""
    status = os.lstat(name, dir_fd=handle)
    form = stat.S_IFMT(status.st_mode)
    kind = {
        stat.S_IFDIR: "folder",
        stat.S_IFLNK: "link",
        stat.S_IFCHR: "chardev",
        stat.S_IFBLK: "blockdev",
        stat.S_IFIFO: "fifo",
    }.get(form, "file")
    entry = Entry(names, kind, stat.S_IMODE(status.st_mode), status.st_mtime_ns)
    entry.owner = Owner(status.st_uid, status.st_gid, *owner_names(status.st_uid, status.st_gid))
    if kind in DEVICES:
        entry.device = (os.major(status.st_rdev), os.minor(status.st_rdev))
    if hasattr(os, "listxattr"):
        path = b"/proc/self/fd/%d/%s" % (handle, name)
        for key, value in attributes_of(path):
            if key in (b"system.posix_acl_access", b"system.posix_acl_default"):
                if key.endswith(b"default") or len(value) > 4 + 3 * 8:
                    entry.acls[key.rpartition(b"_")[2]] = acl_text(value)
            else:
                entry.attributes[key] = value
    return entry


def owner_names(uid, gid):
    import grp
    import pwd

    for look, number in ((pwd.getpwuid, uid), (grp.getgrgid, gid)):
        try:
            yield os.fsencode(look(number)[0])
        except KeyError:
            yield b""


def attributes_of(path):
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return
    for name in names:
        yield os.fsencode(name), os.getxattr(path, name, follow_symlinks=False)


def acl_text(data):
    """The text of an ACL in the binary form of Linux."""
    assert data[:4] == struct.pack("<I", 2)
    entries = []
    for tag, bits, number in struct.iter_unpack("<HHI", data[4:]):
        name = b"%d" % number if tag in (2, 8) else b""
        rights = b"".join(letter if bits & bit else b"-" for letter, bit in ((b"r", 4), (b"w", 2), (b"x", 1)))
        entries.append(b"%s:%s:%s" % (ACL_TAGS[tag], name, rights))
    return b",".join(entries)


def segments_of(file, size):
    """Offset and length of the parts of a file that are not holes, or None if it has no holes."""
    segments, at = [], 0
    while at < size:
        try:
            start = os.lseek(file, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            segments.append((size, 0))
            break
        at = os.lseek(file, start, os.SEEK_HOLE)
        segments.append((start, at - start))
    return None if segments in ([], [(0, size)]) else tuple(segments)


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


def decimal(text, limit):
    """Decimal digits, of a number below the limit."""
    digits = text.lstrip(b"0")
    if not re.fullmatch(rb"[0-9]+", text) or len(digits) > 20 or int(digits or b"0") >= limit:
        raise damaged("decimal number")
    return int(digits or b"0")


def check_acl(text):
    """Checks the text of an ACL: its entries are in the order of their tags, and those that every ACL has are there once."""
    tags = []
    for entry in text.split(b","):
        match = re.fullmatch(rb"(user|group|mask|other):([0-9]*):[r-][w-][x-]", entry)
        if not match or match[2] and match[1] not in (b"user", b"group"):
            raise damaged("ACL")
        if match[2]:
            decimal(match[2], 1 << 32)
        tags.append({b"user": 1, b"group": 4, b"mask": 16, b"other": 32}[match[1]] * (2 if match[2] else 1))
    needs_mask = 2 in tags or 8 in tags
    if tags != sorted(tags) or [tags.count(tag) for tag in (1, 4, 32)] != [1, 1, 1] or not needs_mask <= tags.count(16) <= 1:
        raise damaged("ACL")


def attribute_name(text):
    """Takes the name of an attribute out of a record's key."""
    name = text.replace(b"%3D", b"=").replace(b"%25", b"%")
    if not 1 <= len(name) <= 255 or b"\0" in text or re.search(rb"%(?!25|3D)", text) or name.startswith(b"system.posix_acl"):
        raise damaged("name of an attribute")
    return name


def parse_record(key, value, version):
    """The value of a record, or None for one that does not count."""
    if key == b"size":
        return decimal(value, 1 << 64)
    if key == b"mtime":
        return parse_time(value)
    if key in (b"path", b"linkpath"):
        return value
    if key.startswith(SPARSE):
        if version == 1 or key not in SPARSE_KEYS:
            raise TreeError("TreeSpecialFile", "sparse")
        return value if key == SPARSE + b"name" else decimal(value, 1 << 64)
    if version == 1:
        return None
    if key in (b"uid", b"gid"):
        return decimal(value, 1 << 32)
    if key in (b"uname", b"gname"):
        if not 1 <= len(value) <= MAX_NAME_OF_OWNER or b"\0" in value:
            raise damaged("name of an owner")
        return value
    if key in (ACL + b"access", ACL + b"default"):
        check_acl(value)
        return value
    if key.startswith(ATTRIBUTE):
        attribute_name(key[len(ATTRIBUTE) :])
        return value
    return None


def read_extension(stream, flag, size, known, version):
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
        value = parse_record(key, value, version)
        if value is None:
            continue
        if key in known:
            raise damaged("said twice")
        known[key] = value


def read_sparse(data, size):
    """The segments of a sparse file, and the data behind the map."""
    at = 0

    def next_number():
        nonlocal at
        end = data.find(b"\n", at, at + 21)
        if end < 0 or end >= MAX_MAP:
            raise damaged("map of a sparse file")
        text, at = data[at:end], end + 1
        return decimal(text, 1 << 64)

    segments = []
    for _ in range(next_number()):
        segments.append((next_number(), next_number()))
    start = at + -at % BLOCK
    if any(data[at:start]):
        raise damaged("fill is not zero")
    last = 0
    for offset, length in segments:
        if offset < last or offset + length > size:
            raise damaged("segments of a sparse file")
        last = offset + length
    if start + sum(length for _, length in segments) != len(data):
        raise damaged("size of a sparse file")
    return Sparse(size, tuple(segments)), data[start:]


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


def leads_out(target, depth):
    """Says if the target of a link that is `depth` folders below the root may be outside."""
    names = target.split(b"/")
    above = 0
    while above < len(names) and names[above] == b"..":
        above += 1
    return target.startswith(b"/") or above > depth or b".." in names[above:]


def next_entry(stream, version):
    """Reads the next entry, or None after the end mark."""
    known, place = {}, stream.at // BLOCK
    while True:
        block = stream.take(BLOCK)
        if not any(block):
            if known or any(stream.take(BLOCK)):
                raise damaged("end")
            return None
        fields = fields_of(block)
        size = number(fields["size"], True)
        flag = fields["typeflag"]
        if flag not in (b"x", b"L", b"K"):
            break
        read_extension(stream, flag, size, known, version)

    kind = (KINDS_V1 if version == 1 else KINDS).get(b"0" if flag == b"\0" else flag)
    if kind is None:
        raise TreeError("TreeSpecialFile", flag)
    sparse = [known.get(key) for key in SPARSE_KEYS]
    is_sparse = sparse != [None] * 4
    if is_sparse:
        if None in sparse or kind != "file" or b"path" in known:
            raise damaged("records of a sparse file")
        if sparse[:2] != [1, 0]:
            raise TreeError("TreeSpecialFile", "sparse")
        known[b"path"] = sparse[2]
    path = known.get(b"path")
    if path is None:
        prefix = cut(fields["prefix"]) if fields["magic"] == USTAR[:6] else b""
        path = (prefix + b"/" if prefix else b"") + cut(fields["name"])
    pax_size = known.get(b"size", size)
    if pax_size != size and (version == 2 or pax_size <= MAX_OCTAL) or pax_size < 0:
        raise damaged("two sizes")
    if kind != "file" and pax_size:
        raise damaged("data of another kind than a file")
    mode = number(fields["mode"], False) & (0o777 if version == 1 else 0o7777)
    entry = Entry(split(path, kind), kind, mode, time_of(fields, known, version), place=place)
    if kind in ("link", "hardlink"):
        entry.target = known.get(b"linkpath", cut(fields["linkname"]))
        if not 1 <= len(entry.target) <= MAX_PATH or b"\0" in entry.target:
            raise TreeError("TreeLink", entry.target)
    if kind == "link" and version == 1 and leads_out(entry.target, len(entry.names) - 1):
        raise TreeError("TreeLink", entry.target)
    if version == 2:
        read_metadata(entry, fields, known)
    entry.data = stream.take_filled(pax_size)
    if is_sparse:
        entry.sparse, entry.data = read_sparse(entry.data, sparse[3])
    return entry


def time_of(fields, known, version):
    """The time of an entry in nanoseconds."""
    if b"mtime" in known:
        return known[b"mtime"]
    seconds = number(fields["mtime"], True)
    if seconds >= 1 << 63:
        raise damaged("mtime")
    has_nanoseconds = version == 2 and fields["magic"] == USTAR[:6]
    nanoseconds = int.from_bytes(fields["nanoseconds"], "big") if has_nanoseconds else 0
    if nanoseconds >= NANOSECONDS:
        raise damaged("nanoseconds")
    return seconds * NANOSECONDS + nanoseconds


def read_metadata(entry, fields, known):
    """Sets what version 2 has and version 1 ignores."""
    uid, gid = (known[key] if key in known else number(fields[key.decode()], False) for key in (b"uid", b"gid"))
    uname, gname = (known.get(key, cut(fields[key.decode()])) for key in (b"uname", b"gname"))
    entry.owner = Owner(uid, gid, uname, gname)
    if entry.kind in DEVICES:
        entry.device = (number(fields["devmajor"], False), number(fields["devminor"], False))
    if entry.kind == "hardlink":
        return
    keys = {"folder": (b"access", b"default"), "link": ()}.get(entry.kind, (b"access",))
    entry.acls = {key: known[ACL + key] for key in keys if ACL + key in known}
    found = ((key[len(ATTRIBUTE) :], value) for key, value in known.items() if key.startswith(ATTRIBUTE))
    entry.attributes = {attribute_name(name): value for name, value in found}


def read(data, version=2):
    """The entries of a tree. Does not read the index, like every reader that unpacks all of it."""
    return read_stream(data, version)[0]


def read_stream(data, version=2):
    """The entries of a tree, and the length of the tar stream."""
    stream, entries, files = Stream(data), [], set()
    # The path of open folders from the root to the last one: name, and the kinds of the names in it.
    open_folders = [(b"", {})]
    while (entry := next_entry(stream, version)) is not None:
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
        if entry.kind == "hardlink" and entry.target not in files:
            raise TreeError("TreeLink", entry.target)
        if entry.kind in ("file", "hardlink"):
            files.add(entry.path)
        entries.append(entry)
    rest = data[stream.at :]
    if version == 1 and (len(rest) % BLOCK or any(rest)):
        raise damaged("end")
    return entries, stream.at


# Index

INDEX_BLOCK = 16 << 10
MAX_INDEX_BLOCK = 64 << 10
TRAILER = struct.Struct(">QQQ8s")
CHANGED, HAS_OWNER = 1, 2


@dataclasses.dataclass
class Line:
    """What the index says of an entry. `place` counts blocks from the beginning of the tar stream."""

    path: bytes
    kind: str
    mode: int
    place: int
    size: int
    seconds: int
    nanoseconds: int
    owner: Owner = Owner()
    target: bytes = b""
    changed: bool = dataclasses.field(default=False, compare=False)


def line_of(entry):
    time = divmod(entry.time_ns, NANOSECONDS)
    size = entry.size if entry.kind == "file" else 0
    return Line(entry.path, entry.kind, entry.mode, entry.place, size, *time, entry.owner, entry.target)


def varint(number):
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def counted(data):
    return varint(len(data)) + data


def zigzag(number):
    """A signed number of 64 bits as an unsigned one."""
    number = (number + (1 << 63)) % (1 << 64) - (1 << 63)
    return 2 * number if number >= 0 else -2 * number - 1


def write_line(line, last):
    """An entry of a block. `last` is the one before it in the same block, or None."""
    has_owner = last is None or line.owner != last.owner
    before = last or Line(b"", "", 0, 0, 0, 0, 0)
    shared = len(list(itertools.takewhile(bool, map(operator.eq, line.path, before.path))))
    output = varint(shared) + counted(line.path[shared:]) + FLAGS[line.kind]
    output += bytes([CHANGED * line.changed + HAS_OWNER * has_owner])
    numbers = [line.mode, line.place - before.place, line.size, zigzag(line.seconds - before.seconds), line.nanoseconds]
    output += b"".join(map(varint, numbers))
    if has_owner:
        uid, gid, uname, gname = line.owner
        output += varint(uid) + varint(gid) + counted(uname) + counted(gname)
    return output + counted(line.target) if line.kind in ("link", "hardlink") else output


def write_blocks(lines, block_size=INDEX_BLOCK):
    """The blocks, each as its first path, its number of entries and its bytes."""
    blocks, last = [], None
    for line in lines:
        if last is None:
            blocks.append((line.path, 0, b""))
        first, count, block = blocks[-1]
        blocks[-1] = (first, count + 1, block + write_line(line, last))
        last = line if len(blocks[-1][2]) < block_size else None
    return blocks


def join_index(blocks, tar_length):
    table = b"".join(varint(len(block)) + varint(count) + counted(first) for first, count, block in blocks)
    count = sum(count for _, count, _ in blocks)
    return b"".join(block for _, _, block in blocks) + table + TRAILER.pack(tar_length, len(table), count, b"tressidx")


def write_index(lines, tar_length):
    return join_index(write_blocks(lines), tar_length)


def take_varint(stream):
    value = 0
    for shift in range(0, 70, 7):
        byte = stream.take(1)[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    if byte >= 0x80 or value >= 1 << 64:
        raise damaged("varint")
    return value


def take_counted(stream):
    return stream.take(take_varint(stream))


def order(path):
    return path.replace(b"/", b"\0")


def read_line(stream, last):
    shared = take_varint(stream)
    before = last or Line(b"", "", 0, 0, 0, 0, 0)
    if shared > len(before.path):
        raise damaged("shared bytes of a path")
    path = before.path[:shared] + take_counted(stream)
    kind, flags = KINDS.get(stream.take(1)), stream.take(1)[0]
    if kind is None or flags & ~(CHANGED | HAS_OWNER) or last is None and not flags & HAS_OWNER:
        raise damaged("kind or flags")
    mode, blocks, size, seconds, nanoseconds = (take_varint(stream) for _ in range(5))
    seconds = before.seconds + (-(seconds + 1) // 2 if seconds & 1 else seconds // 2)
    seconds = (seconds + (1 << 63)) % (1 << 64) - (1 << 63)
    if mode > 0o7777 or nanoseconds >= NANOSECONDS or kind != "file" and size:
        raise damaged("mode, nanoseconds or size")
    owner = before.owner
    if flags & HAS_OWNER:
        owner = Owner(take_varint(stream), take_varint(stream), take_counted(stream), take_counted(stream))
        check_owner(owner)
    target = take_counted(stream) if kind in ("link", "hardlink") else b""
    if kind in ("link", "hardlink") and not 1 <= len(target) <= MAX_PATH or b"\0" in target:
        raise damaged("target")
    if not path and kind != "folder":
        raise damaged("root")
    if path and b"/".join(split(path, "file")) != path:
        raise TreeError("TreePath", path)
    changed = bool(flags & CHANGED)
    return Line(path, kind, mode, before.place + blocks, size, seconds, nanoseconds, owner, target, changed)


def check_owner(owner):
    names = (owner.uname, owner.gname)
    if max(owner[:2]) >= 1 << 32 or any(len(name) > MAX_NAME_OF_OWNER or b"\0" in name for name in names):
        raise damaged("owner")


def read_index(data):
    """The lines of a tree's index, and the length of the tar stream before it."""
    if len(data) < TRAILER.size:
        raise damaged("trailer")
    tar_length, list_length, count, magic = TRAILER.unpack(data[-TRAILER.size :])
    list_at = len(data) - TRAILER.size - list_length
    if magic != b"tressidx" or tar_length % BLOCK or tar_length < 2 * BLOCK or list_at < tar_length:
        raise damaged("trailer")
    blocks, table = Stream(data[tar_length:list_at]), Stream(data[list_at : -TRAILER.size])
    lines = []
    while table.at < len(table.data):
        length, number_of_lines, first = take_varint(table), take_varint(table), take_counted(table)
        if length > MAX_INDEX_BLOCK or not number_of_lines:
            raise damaged("list")
        block, last = Stream(blocks.take(length)), None
        for _ in range(number_of_lines):
            last = read_line(block, last)
            lines.append(last)
        if block.at != length or lines[-number_of_lines].path != first:
            raise damaged("block")
    if blocks.at != len(blocks.data) or len(lines) != count:
        raise damaged("list")
    for one, two in itertools.pairwise(lines):
        if order(one.path) >= order(two.path) or one.place >= two.place:
            raise damaged("order of the index")
    if lines and lines[-1].place >= tar_length // BLOCK - 2:
        raise damaged("place")
    return lines, tar_length


def check_index(data):
    """Checks that the index says what the tar stream says, and returns the entries."""
    (entries, length), (lines, tar_length) = read_stream(data), read_index(data)
    if length != tar_length or lines != list(map(line_of, entries)):
        raise damaged("the index disagrees with the tar stream")
    return entries


def member(data, path):
    """The file with this path, by the index. Reads only its own header and data."""
    lines, tar_length = read_index(data)
    line = next(line for line in lines if line.path == path)
    stream = Stream(data[:tar_length])
    stream.take(line.place * BLOCK)
    entry = next_entry(stream, 2)
    if entry is None or (entry.path, entry.kind) != (line.path, line.kind) or line_of(entry).size != line.size:
        raise damaged("the index disagrees with the header")
    return entry


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
        version, _ = tress_reader.read_first_line(container)
        if kind != b"tree":
            sys.exit(f"tress_tree: {sys.argv[2]}: not a tree")
        for entry in read(plaintext, version):
            size = entry.target or entry.size
            print(entry.kind, oct(entry.mode), format_time(entry.time_ns).decode(), ascii(entry.names), ascii(size))
    except (TreeError, tress_reader.ContainerError) as error:
        sys.exit(f"tress_tree: {sys.argv[2]}: {str(error)!a}")


if __name__ == "__main__":
    main()
