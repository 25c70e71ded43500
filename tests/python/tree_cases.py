"""Trees on which all readers must agree: docs/reference/formats/container.md, "What a reader admits" and "Index".

CASES has rows of a name, the version, the plaintext, and the kind of refusal or None. INDEXES has plaintexts of version 2
whose tar stream is good: rows of a name, the plaintext, and the kind of refusal of a reader of the index or None. MEMBERS has
those whose index is good and disagrees with a header. Each row tests one rule of the page.
"""

import dataclasses

from tress_tree import (
    ACL,
    ATTRIBUTE,
    BLOCK,
    GNU,
    MAX_EXTENSION,
    MAX_INDEX_BLOCK,
    MAX_MAP,
    NANOSECONDS,
    SPARSE_KEYS,
    TRAILER,
    USTAR,
    Entry,
    Owner,
    binary,
    counted,
    fill,
    header,
    join_index,
    line_of,
    octal,
    read_index,
    record,
    varint,
    write,
    write_blocks,
    write_index,
    write_line,
)

END = bytes(2 * BLOCK)
OLD_GNU = {"magic": GNU[:6], "version": GNU[6:]}
SAME = object()
CASES, INDEXES, MEMBERS = [], [], []


def entry(path, flag=b"0", data=b"", **fields):
    """One entry with a ustar header. `fields` replace its fields."""
    common = {"mode": octal(0o640, 8), "size": octal(len(data), 12), "mtime": octal(7, 12), "typeflag": flag}
    common |= {"uid": octal(0, 8), "gid": octal(0, 8)}
    return header(**{"name": path, **common, **fields}) + fill(data)


def folder(path, **fields):
    return entry(path, b"5", **{"mode": octal(0o750, 8), **fields})


def link(path, target, **fields):
    return entry(path, b"2", linkname=target, **fields)


def pax(*records):
    return entry(b"PaxHeaders/entry", b"x", b"".join(record(*pair) for pair in records))


def raw_pax(data):
    return entry(b"PaxHeaders/entry", b"x", data)


def long(flag, name, **fields):
    return entry(b"././@LongLink", flag, name, **{**OLD_GNU, **fields})


def hard(path, target, **fields):
    return entry(path, b"1", linkname=target, **fields)


def device(path, flag=b"3", **fields):
    return entry(path, flag, **{"devmajor": octal(1, 8), "devminor": octal(3, 8), **fields})


def nanoseconds(number):
    return number.to_bytes(4, "big")


def case(name, stream, refusal=None, end=END, v2=SAME):
    """A stream for readers of both versions. `v2` is the refusal of version 2, if that differs."""
    CASES.append((name, 1, stream + end, refusal))
    only_v2(name, stream, refusal if v2 is SAME else v2, end)


def only_v1(name, stream, refusal=None, end=END):
    CASES.append((name, 1, stream + end, refusal))


def only_v2(name, stream, refusal=None, end=END):
    """The index of these trees has no entries: a reader of the whole stream does not read it."""
    CASES.append((name, 2, stream + end + write_index([], len(stream + end)), refusal))


ROOT = folder(b"./")
A = entry(b"a")


def plain_paths():
    case("no entries", b"")
    case("only the root", ROOT)
    case("no root", A)
    case("folder without a slash", folder(b"d") + entry(b"d/a"))
    case("leading ./", folder(b"./d/") + entry(b"./d/a"))
    case("name that fills its field", entry(b"n" * 100))
    case("bytes after the NUL of a name", entry(b"a\0b"))
    case("name that is not UTF-8", entry(b"\xff\\:"))
    case("type flag NUL", entry(b"a", b"\0"))
    for name, path in [
        ("empty path", b""),
        ("absolute path", b"/a"),
        ("..", b".."),
        ("../a", b"../a"),
        ("a/..", b"a/.."),
        ("a/../b", b"a/../b"),
        ("a//b", b"a//b"),
        ("a/./b", b"a/./b"),
        ("././a", b"././a"),
        (".//a", b".//a"),
        ("file a/", b"a/"),
        ("file ./", b"./"),
        ("file .", b"."),
    ]:
        case(name, entry(path), "TreePath")
    for path in [b"/", b"/a", b"..", b"../a", b"a/../../x", b"a/..", b"./../a", b"a//b", b".//a", b"a/./b"]:
        case(f"folder {path!r} after a", folder(b"a") + folder(path), "TreePath")
        case(f"link {path!r} after a", folder(b"a") + link(path, b"a"), "TreePath")
        case(f"path record {path!r} after a", folder(b"a") + pax((b"path", path)) + entry(b"x"), "TreePath")
        case(f"L {path!r} after a", folder(b"a") + long(b"L", path) + entry(b"x"), "TreePath")
    for name, path in [("folder /", b"/"), ("folder a//", b"a//"), ("folder .//", b".//"), ("folder ././", b"././")]:
        case(name, folder(path), "TreePath")
    case("folder .", folder(b"."), "TreePath")
    case("folder ./.", folder(b"./."), "TreePath")
    case("folder ..", folder(b"../"), "TreePath")
    case("link a/", link(b"a/", b"x"), "TreePath")
    case("link ./", link(b"./", b"x"), "TreePath")
    case("NUL in a path record", pax((b"path", b"a\0b")) + A, "TreePath")
    case("empty path record", pax((b"path", b"")) + A, "TreePath")
    # 16 names of 255 bytes with slashes between them have 4095 bytes.
    names = [b"n" * 255] * 16
    deep = b"".join(pax((b"path", b"/".join(names[:i]) + b"/")) + folder(b"cut") for i in range(1, 16))
    longest = b"/".join(names)
    case("path of 4095 bytes", deep + pax((b"path", longest)) + A)
    case("path of 4096 bytes", deep + pax((b"path", longest + b"n")) + A, "TreePath")
    case("path of 4097 bytes with ./", deep + pax((b"path", b"./" + longest)) + A, "TreePath")
    case("folder of 4096 bytes with /", deep + pax((b"path", longest + b"/")) + folder(b"a"), "TreePath")


def prefixes():
    case("prefix", folder(b"d/") + entry(b"a", prefix=b"d"))
    parents = [b"p" * 77, b"p" * 77 + b"/" + b"q" * 77]
    full = folder(parents[0]) + pax((b"path", parents[1])) + folder(b"cut") + entry(b"a", prefix=parents[1])
    case("prefix that fills its field", full)
    case("prefix of GNU tar is none", entry(b"a", prefix=b"d", **OLD_GNU))
    case("path record replaces prefix", pax((b"path", b"a")) + entry(b"x", prefix=b"d"))
    case("prefix with its slash", folder(b"d/") + entry(b"a", prefix=b"d/"), "TreePath")
    case("prefix ..", entry(b"a", prefix=b".."), "TreePath")
    case("absolute name behind a prefix", folder(b"d/") + entry(b"/a", prefix=b"d"), "TreePath")


def headers():
    case("wrong checksum", entry(b"a", chksum=octal(1, 8)), "TreeDamaged")
    case("no checksum", entry(b"a", chksum=bytes(8)), "TreeDamaged")
    plus = b"+%06o\0" % sum(entry(b"a", chksum=b" " * 8))
    case("checksum with a plus", entry(b"a", chksum=plus), "TreeDamaged")
    case("magic of GNU tar", entry(b"a", **OLD_GNU))
    case("magic of neither", entry(b"a", magic=bytes(6), version=bytes(2)), "TreeDamaged")
    case("version 1", entry(b"a", version=b"01"), "TreeDamaged")
    for flag in [b"0", b"5", b"2", b"x", b"L", b"K"]:
        for magic in [b"$star\x0000", b"ustar000", b"ustar\x0010", b"ustar\x000\0"]:
            head = entry(b"b", flag, linkname=b"c", magic=magic[:6], version=magic[6:])
            case(f"type flag {flag!r} with magic {magic!r}", head + A, "TreeDamaged")
    case("half of each magic", entry(b"a", magic=USTAR[:6], version=GNU[6:]), "TreeDamaged")
    damaged = "TreeDamaged"
    case("owner that is no number", entry(b"a", uid=b"root", gid=b"\xff" * 8, uname=b"root"), v2=damaged)
    only_v1("hard link", A + hard(b"c", b"a"), "TreeSpecialFile")
    only_v1("hard link that leads out", hard(b"c", b"/etc/passwd"), "TreeSpecialFile")
    only_v1("hard link that leads up", hard(b"c", b"../x"), "TreeSpecialFile")
    for flag, v2 in [(b"1", "TreeLink"), (b"3", damaged), (b"4", damaged), (b"6", None)]:
        case(f"type flag {flag!r}", entry(b"a", flag), "TreeSpecialFile", v2=v2)
    for flag in [b"7", b"g", b"S", b"V", b"M", b"D", b"N", b"X", b"A", b"Z", b" ", b"\xff"]:
        case(f"type flag {flag!r}", entry(b"a", flag), "TreeSpecialFile")
    case("setuid", entry(b"a", mode=octal(0o7755, 8)))


def numbers():
    for name, field, refusal in [
        ("leading spaces", b"    640 ", None),
        ("ends with a space", b"0000640 ", None),
        ("fills its field", b"00000640", None),
        ("one digit", b"4", None),
        ("empty", b"", "TreeDamaged"),
        ("spaces", b" " * 8, "TreeDamaged"),
        ("digit 8", b"0000840\0", "TreeDamaged"),
        ("hexadecimal", b"0x00640\0", "TreeDamaged"),
        ("space inside", b"0006 40\0", "TreeDamaged"),
        ("minus", b"-000640\0", "TreeDamaged"),
        ("plus", b"+000640\0", "TreeDamaged"),
        ("letters", b"rwxr-xr-", "TreeDamaged"),
        ("tab", b"\t000640\0", "TreeDamaged"),
        ("no-break space", b"\xc2\xa0000640", "TreeDamaged"),
        ("binary", b"\x80\0\0\0\0\0\x01\xa0", "TreeDamaged"),
    ]:
        case(f"mode: {name}", entry(b"a", mode=field), refusal)
    case("size: ends with a space", entry(b"a", data=b"1", size=b"00000000001 "))
    case("size: twelve digits", entry(b"a", data=b"1", size=b"000000000001"))
    case("size: binary", entry(b"a", data=b"1", size=binary(1, 12)))
    case("size: empty", entry(b"a", size=b""), "TreeDamaged")
    case("size: minus", entry(b"a", size=b"-1"), "TreeDamaged")
    case("size: plus", entry(b"a", size=b"+0000000000\0"), "TreeDamaged")
    for first in [b"\x80\1\0\0", b"\x80\0\0\1", b"\x81\0\0\0", b"\xff\0\0\0", b"\xff\xff\xff\xff"]:
        case(f"size: binary after {first!r}", entry(b"a", data=b"1", size=first + binary(1, 12)[4:]), "TreeDamaged")
        case(f"mtime: binary after {first!r}", entry(b"a", mtime=first + binary(1, 12)[4:]), "TreeDamaged")
    case("size: digits 7", entry(b"a", size=b"77777777777\0"), "TreeDamaged")
    case("size: digit 9", entry(b"a", size=b"00000000009\0"), "TreeDamaged")
    case("size: binary, more than there is", entry(b"a", size=binary(2**64 - 1, 12)), "TreeDamaged")
    case("size: binary, negative", entry(b"a", size=binary(-1, 12)), "TreeDamaged")
    case("mtime: binary", entry(b"a", mtime=binary(2**33, 12)))
    case("mtime: binary, negative", entry(b"a", mtime=binary(-5, 12)))
    case("mtime: binary, 2^63", entry(b"a", mtime=binary(2**63, 12)), "TreeDamaged")
    case("mtime: binary, -2^63 - 1", entry(b"a", mtime=binary(-(2**63) - 1, 12)), "TreeDamaged")
    case("mtime: letters", entry(b"a", mtime=b"w" * 12), "TreeDamaged")
    case("mtime: empty", entry(b"a", mtime=b""), "TreeDamaged")
    case("mtime: empty, with a record", pax((b"mtime", b"3")) + entry(b"a", mtime=b""))


def sizes():
    case("size record", pax((b"size", b"3")) + entry(b"a", data=b"abc"))
    case("size record with zeros", pax((b"size", b"0003")) + entry(b"a", data=b"abc"))
    case("size record says less", pax((b"size", b"2")) + entry(b"a", data=b"abc"), "TreeDamaged")
    case("size record says more", pax((b"size", b"3")) + entry(b"a", data=b"ab"), "TreeDamaged")
    case("size record, none in the header", pax((b"size", b"3")) + entry(b"a", data=b"abc", size=octal(0, 12)), "TreeDamaged")
    case("size record beyond the stream", pax((b"size", b"8589934592")) + entry(b"a", size=octal(0, 12)), "TreeDamaged")
    for text in [b"", b"-1", b"+3", b"3 ", b" 3", b"0x3", b"3.0", b"x", b"0", b"512", b"513", b"%d" % (2**64 - 1), b"%d" % 2**64]:
        case(f"size record {text!r}", pax((b"size", text)) + entry(b"a", data=b"abc"), "TreeDamaged")
    case("folder with data", folder(b"d/", data=b"abc"), "TreeDamaged")
    case("folder with a size", folder(b"d/", size=octal(512, 12)) + fill(b"x"), "TreeDamaged")
    case("folder with a size record", pax((b"size", b"99")) + folder(b"d/"), "TreeDamaged")
    case("folder with data that a record denies", pax((b"size", b"0")) + folder(b"d/", data=b"abc"), "TreeDamaged")
    case("link with data", link(b"l", b"a", data=b"abc"), "TreeDamaged")
    case("link with a size record", pax((b"size", b"8589934592")) + link(b"l", b"a"), "TreeDamaged")


def times():
    for text in [b"0", b"7", b"-1", b"-0", b"007", b"7.", b"7.5", b"-0.25", b"7.0000000019", b"-1.0000000001"]:
        case(f"mtime {text!r}", pax((b"mtime", text)) + A)
    for text in [b"", b"-", b".5", b"+1", b"--1", b"1e3", b"1,5", b"1.2.3", b" 1", b"1 ", b"0x1", b"-.5", b"1.-5", b"x"]:
        case(f"mtime {text!r}", pax((b"mtime", text)) + A, "TreeDamaged")
    case("mtime 2^63", pax((b"mtime", b"%d" % 2**63)) + A, "TreeDamaged")
    case("mtime -2^63", pax((b"mtime", b"-%d" % 2**63)) + A, "TreeDamaged")


def records():
    case("uid record that is no number", pax((b"uid", b"x")) + A, v2="TreeDamaged")
    case("other records", pax((b"SCHILY.xattr.user.a", b"\0"), (b"comment", b"a=b\n"), (b"c", b"")) + A)
    case("other records twice", pax((b"comment", b"1"), (b"comment", b"2")) + A)
    case("hdrcharset", pax((b"hdrcharset", b"BINARY"), (b"path", b"\xff")) + A)
    case("no records", pax() + A)
    case("length with zeros", raw_pax(b"0009 a=b\n") + A)
    case("value that looks like a record", pax((b"comment", b"a\n12 path=evil\n\n")) + A)
    case("value with = and newline", pax((b"path", b"a=\nb")) + A)
    case("linkpath of a file", pax((b"linkpath", b"/etc/passwd")) + A)
    for data in [b"6 a=b", b"5 a=b\n", b"7 a=b\n", b" a=b\n", b"x a=b\n", b"6 a b\n", b"5 =b\n", b"0 ", b"1 ", b"+6 a=b\n"]:
        case(f"records {data!r}", raw_pax(data) + A, "TreeDamaged")
    case("records and NUL", raw_pax(b"6 a=b\n\0") + A, "TreeDamaged")
    case("length of 20 digits", raw_pax(b"%020d a=b\n" % 25) + A, "TreeDamaged")
    case("length of 19 digits", raw_pax(b"%019d a=b\n" % 24) + A)
    case("length of 23 digits", raw_pax(b"%d a=b\n" % (10**23 - 1)) + A, "TreeDamaged")
    case("length of 2^64 - 1", raw_pax(b"%d a=b\n" % (2**64 - 1)) + A, "TreeDamaged")
    case("length above 2^64", raw_pax(b"18446744073709551622 a=b\n") + A, "TreeDamaged")
    for key, value in [(b"path", b"a"), (b"linkpath", b"a"), (b"size", b"0"), (b"mtime", b"1")]:
        case(f"{key.decode()} twice", pax((key, value), (key, value)) + A, "TreeDamaged")
    case("sparse by a record", pax((b"GNU.sparse.major", b"1")) + A, "TreeSpecialFile", v2="TreeDamaged")


def extensions():
    case("x with GNU tar's magic", entry(b"h", b"x", record(b"path", b"b"), **OLD_GNU) + A)
    case("x with the magic of neither", entry(b"h", b"x", record(b"path", b"b"), magic=bytes(6)) + A, "TreeDamaged")
    case("two x", pax((b"mtime", b"1")) + pax((b"path", b"b")) + A, "TreeDamaged")
    case("L", long(b"L", b"b" * 200 + b"\0") + A)
    case("L without NUL", long(b"L", b"b" * 200) + A)
    case("L with ustar's magic", entry(b"h", b"L", b"b\0") + A)
    case("L with NUL inside", long(b"L", b"a\0b\0") + A, "TreePath")
    case("L with two NUL", long(b"L", b"b\0\0") + A, "TreePath")
    case("L of no bytes", long(b"L", b"") + A, "TreePath")
    case("two L", long(b"L", b"b\0") + long(b"L", b"c\0") + A, "TreeDamaged")
    case("K", long(b"K", b"t" * 200 + b"\0") + link(b"l", b"t"))
    case("K of a file", long(b"K", b"/etc/passwd\0") + A)
    case("K leads out", long(b"K", b"../x\0") + link(b"l", b"t"), "TreeLink", v2=None)
    case("two K", long(b"K", b"t\0") + long(b"K", b"t\0") + link(b"l", b"t"), "TreeDamaged")
    case("K, L", long(b"K", b"t\0") + long(b"L", b"m\0") + link(b"l", b"x"))
    case("L, K", long(b"L", b"m\0") + long(b"K", b"t\0") + link(b"l", b"x"))
    case("x, L", pax((b"mtime", b"1")) + long(b"L", b"b\0") + A, "TreeDamaged")
    case("L, x", long(b"L", b"b\0") + pax((b"mtime", b"1")) + A, "TreeDamaged")
    case("x, K", pax() + long(b"K", b"t\0") + link(b"l", b"t"), "TreeDamaged")
    case("K, x", long(b"K", b"t\0") + pax() + link(b"l", b"t"), "TreeDamaged")
    case("x before the end", pax((b"mtime", b"1")), "TreeDamaged")
    for flag in [b"L", b"K"]:
        case(f"{flag!r} before the end", long(flag, b"b\0"), "TreeDamaged")
        case(f"{flag!r} of 2^60 bytes", entry(b"h", flag, size=binary(2**60, 12)) + A, "TreeDamaged")
        for key, value in [(b"path", b"a"), (b"size", b"7")]:
            case(f"x of {key.decode()}, {flag!r}", pax((key, value)) + long(flag, b"b") + A, "TreeDamaged")
            case(f"{flag!r}, x of {key.decode()}", long(flag, b"b") + pax((key, value)) + A, "TreeDamaged")
    full = MAX_EXTENSION - len(b"1048576 comment=\n")
    case("x of 1 MiB", pax((b"comment", b"c" * full)) + A)
    case("x of 1 MiB and a byte", pax((b"comment", b"c" * (full + 1))) + A, "TreeDamaged")
    case("x of 2^64 - 1 bytes", entry(b"h", b"x", size=binary(2**64 - 1, 12)) + A, "TreeDamaged")
    case("size record for x", pax((b"size", b"3")) + raw_pax(b"6 a=b\n") + entry(b"a", data=b"abc"), "TreeDamaged")


def order():
    d, e = folder(b"d/"), folder(b"d/e/")
    case("depth first", ROOT + d + e + entry(b"d/e/a") + entry(b"d/b") + entry(b"c"))
    case("siblings in any order", entry(b"b") + A + d)
    case("entry before its folder", entry(b"d/a"), "TreeDamaged")
    case("folder before its folder", folder(b"d/e/"), "TreeDamaged")
    case("folder that was left", d + folder(b"e/") + entry(b"d/a"), "TreeDamaged")
    case("folder left by a file", d + A + entry(b"d/a"), "TreeDamaged")
    case("inner folder that was left", d + e + entry(b"d/b") + entry(b"d/e/a"), "TreeDamaged")
    case("below a file", A + entry(b"a/b"), "TreeDamaged")
    case("below a link", link(b"l", b"d") + entry(b"l/a"), "TreeLink")
    case("below a link to a folder", d + link(b"l", b"d") + entry(b"l/a"), "TreeLink")
    case("file twice", A + A, "TreeDuplicate")
    case("file twice, with others between them", A + d + entry(b"d/a") + A, "TreeDuplicate")
    case("folder come back to", d + folder(b"f/") + d, "TreeDuplicate")
    case("folder and file", folder(b"a") + A, "TreeDuplicate")
    case("link twice", link(b"a", b"b") + link(b"a", b"b"), "TreeDuplicate")
    case("link and folder", link(b"d", b".") + d, "TreeDuplicate")
    case("folder below a link to a folder", d + link(b"l", b"d") + folder(b"l/e"), "TreeLink")
    case("file twice, once with ./", A + entry(b"./a"), "TreeDuplicate")
    case("folder twice", d + d, "TreeDuplicate")
    case("file and folder", A + folder(b"a"), "TreeDuplicate")
    case("link and file", link(b"a", b"b") + A, "TreeDuplicate")
    case("folder and link", d + link(b"d", b"e"), "TreeDuplicate")
    case("names that differ in case", A + entry(b"A"))
    case("root twice", ROOT + ROOT, "TreeDuplicate")
    case("late root", A + ROOT, "TreeDamaged")


def links():
    inside = folder(b"d/") + folder(b"d/e/")
    for target in [b"a", b"./a", b".", b"a//b/", b"a/./b", b"no/such", b"t" * 100, b"\xff"]:
        case(f"link to {target[:9]!r}", link(b"l", target))
    for target in [b"..", b"../", b"../..", b"../../x", b"../x/y", b"../..x", b"../.", b"..//x"]:
        case(f"d/e/l to {target!r}", inside + link(b"d/e/l", target))
    for target, refusal in [(b"..", None), (b"..//", None), (b"../..", "TreeLink"), (b"..//..", "TreeLink")]:
        case(f"d/l to {target!r}", folder(b"d/") + link(b"d/l", target), refusal, v2=None)
    case("link to nothing", link(b"l", b""), "TreeLink")
    for target in [b"/", b"/a", b"..", b"../a", b"a/..", b"a/../b", b"a/./..", b"./.."]:
        case(f"link to {target!r} in the root", link(b"l", target), "TreeLink", v2=None)
    for target in [b"../../..", b"x/..", b"../x/..", b"../../../x", b"../x/../y", b"./../x", b"..//../x"]:
        case(f"d/e/l to {target!r}", inside + link(b"d/e/l", target), "TreeLink", v2=None)
    steps = inside + link(b"d/e/up", b"../..") + link(b"x", b"d/e/up/..")
    case("link that leads out by another link", steps, "TreeLink", v2=None)
    case("depth of the link, not of the last folder", inside + link(b"l", b"../x"), "TreeLink", v2=None)
    longest = b"/".join([b"t" * 255] * 16)
    case("link of 4095 bytes", pax((b"linkpath", longest)) + link(b"l", b"t"))
    case("link of 4096 bytes", pax((b"linkpath", longest + b"t")) + link(b"l", b"t"), "TreeLink")
    case("link with NUL", pax((b"linkpath", b"a\0b")) + link(b"l", b"t"), "TreeLink")
    case("empty linkpath", pax((b"linkpath", b"")) + link(b"l", b"t"), "TreeLink")


def fills():
    case("fill of a file", entry(b"a", data=b"1")[:-1] + b"\1", "TreeDamaged")
    case("first byte of the fill of a file", entry(b"a", data=b"1")[: BLOCK + 1] + b"\1" + bytes(BLOCK - 2), "TreeDamaged")
    case("fill of x", pax((b"path", b"b"))[:-1] + b"\1" + A, "TreeDamaged")
    case("fill of L", long(b"L", b"b\0")[:-1] + b"\1" + A, "TreeDamaged")


def ends():
    only_v1("many zeros", A, end=bytes(100 * BLOCK))
    case("no bytes at all", b"", "TreeDamaged", b"")
    case("no end", A, "TreeDamaged", b"")
    case("one block of zeros", A, "TreeDamaged", bytes(BLOCK))
    only_v1("half a block more", A, "TreeDamaged", bytes(2 * BLOCK + 256))
    case("entry after one block", A, "TreeDamaged", bytes(BLOCK) + entry(b"b") + END)
    only_v1("entry after the end", A, "TreeDamaged", END + entry(b"b") + END)
    for name, tail in [("a byte", b"\1"), ("a block", b"x" * BLOCK), ("an entry", entry(b"b"))]:
        only_v1(f"{name} after the end", A, "TreeDamaged", END + tail)
        only_v1(f"{name} far after the end", A, "TreeDamaged", END + bytes(20 * BLOCK) + tail)
    only_v1("a zero after the end", A, "TreeDamaged", END + b"\0")
    case("no tar at all", b"x" * 8 * BLOCK, "TreeDamaged", b"")
    case("a byte in the end", A, "TreeDamaged", bytes(2 * BLOCK - 1) + b"\1")
    case("cut in a header", A + A[:300], "TreeDamaged", b"")
    case("cut in data", entry(b"a", data=b"x" * 600)[: BLOCK + 550], "TreeDamaged", b"")
    case("cut in the fill", entry(b"a", data=b"x" * 600)[: BLOCK + 700], "TreeDamaged", b"")


def metadata():
    for name, fields, records, refusal in [
        ("nanoseconds", {"nanoseconds": nanoseconds(NANOSECONDS - 1)}, (), None),
        ("nanoseconds of 10^9", {"nanoseconds": nanoseconds(NANOSECONDS)}, (), "TreeDamaged"),
        ("nanoseconds with a record", {"nanoseconds": b"\xff" * 4}, ((b"mtime", b"3.5"),), None),
        ("nanoseconds with the magic of GNU tar", {"nanoseconds": b"\xff" * 4, **OLD_GNU}, (), None),
        ("time before 1970 with nanoseconds", {"nanoseconds": nanoseconds(5), "mtime": binary(-5, 12)}, (), None),
        ("all mode bits", {"mode": octal(0o7777, 8)}, (), None),
        ("owner", {"uid": octal(1000, 8), "gid": octal(50, 8), "uname": b"ada", "gname": b"g" * 32}, (), None),
        ("uid without digits", {"uid": b""}, (), "TreeDamaged"),
        ("gid with digit 8", {"gid": b"0000008\0"}, (), "TreeDamaged"),
        ("uid record", {}, ((b"uid", b"2097152"), (b"gid", b"0002097153")), None),
        ("uid of 2^64", {}, ((b"uid", b"%d" % 2**64),), "TreeDamaged"),
        ("uid minus one", {}, ((b"uid", b"-1"),), "TreeDamaged"),
        ("gid of no digits", {}, ((b"gid", b""),), "TreeDamaged"),
        ("uname record", {}, ((b"uname", b"u" * 32), (b"gname", b"\xff" * 40)), None),
    ]:
        only_v2(name, pax(*records) + entry(b"a", **fields) if records else entry(b"a", **fields), refusal)
    plain = entry(b"a", chksum=b" " * 8)[:504] + b"\xff" * 8
    case("last eight bytes of a header", plain[:148] + octal(sum(plain), 8) + plain[156:])
    access, default, user = ACL + b"access", ACL + b"default", ATTRIBUTE + b"user."
    good = b"user::rw-,user:1:r--,group::r--,group:50:r-x,mask::r-x,other::---"
    only_v2("ACL", pax((access, good)) + A)
    only_v2("ACLs of a folder", pax((access, good), (default, b"user::rwx,group::r-x,other::r-x")) + folder(b"d"))
    for text in [b"", b"x", b"user::rwz,group::r--,other::r--", b"user::rw-", good + b",", b"u::rw-,g::r--,o::r--"]:
        only_v2(f"ACL {text!r}", pax((access, text)) + A, "TreeDamaged")
    only_v2("ACL with a name", pax((access, good.replace(b"50", b"root"))) + A, "TreeDamaged")
    only_v2("attribute with % and =", pax((user + b"a%25%3Db", b"=\0\n"), (user + b"b", b"")) + A)
    for text in [b"a%", b"a%2", b"a%3d", b"a%%25"]:
        only_v2(f"attribute {text!r}", pax((user + text, b"1")) + A, "TreeDamaged")
    # `%25` is one byte of the name.
    only_v2("attribute of 255 bytes", pax((user + b"%25" + b"a" * 249, b"1")) + A)
    only_v2("attribute of 256 bytes", pax((user + b"%25" + b"a" * 250, b"1")) + A, "TreeDamaged")
    only_v2("ACL as an attribute", pax((ATTRIBUTE + b"system.posix_acl_access", b"1")) + A, "TreeDamaged")
    only_v2("attribute without a name", pax((ATTRIBUTE, b"1")) + A, "TreeDamaged")
    only_v2("attribute with NUL in its name", pax((user + b"a\0b", b"1")) + A, "TreeDamaged")
    for key, value in [(b"uid", b"1"), (b"gid", b"1"), (b"uname", b"u"), (b"gname", b"g"), (access, good), (user + b"a", b"1")]:
        only_v2(f"{key.decode()} twice", pax((key, value), (key, value)) + A, "TreeDamaged")


def kinds():
    only_v2("FIFO", entry(b"f", b"6"))
    only_v2("character device", device(b"c"))
    only_v2("block device", device(b"b", b"4", devmajor=b"7777777\0"))
    only_v2("device without a minor number", device(b"c", devminor=b""), "TreeDamaged")
    only_v2("device with data", device(b"c", data=b"1"), "TreeDamaged")
    only_v2("FIFO with data", entry(b"f", b"6", data=b"1"), "TreeDamaged")
    only_v2("FIFO with a slash", entry(b"f/", b"6"), "TreePath")
    only_v2("below a FIFO", entry(b"f", b"6") + entry(b"f/a"), "TreeDamaged")
    only_v2("FIFO and file", entry(b"a", b"6") + A, "TreeDuplicate")
    inner = folder(b"d") + entry(b"d/a", b"6") + entry(b"d/b")
    only_v2("FIFOs of one name in two folders", entry(b"a", b"6") + inner)
    only_v2("FIFO and file, with a folder between them", entry(b"a", b"6") + inner + A, "TreeDuplicate")
    only_v2("absolute link", link(b"l", b"/etc/passwd"))
    only_v2("below a link that leads out", link(b"l", b"/etc") + entry(b"l/a"), "TreeLink")


def hard_links():
    b = entry(b"b", data=b"1")
    only_v2("hard link", b + hard(b"c", b"b"))
    only_v2("hard link to another folder", folder(b"d") + entry(b"d/a", data=b"1") + folder(b"e") + hard(b"e/a", b"d/a"))
    only_v2("hard link to an empty file", A + hard(b"c", b"a"))
    only_v2("two hard links", b + hard(b"c", b"b") + hard(b"d", b"b"))
    only_v2("hard link to a hard link", b + hard(b"c", b"b") + hard(b"d", b"c"))
    deep = [b"n" * 200] * 2
    long_path = b"/".join(deep)
    folders = pax((b"path", deep[0] + b"/")) + folder(b"cut")
    stored = folders + pax((b"path", long_path)) + entry(b"cut", data=b"1")
    only_v2("hard link with a record", stored + pax((b"linkpath", long_path)) + hard(b"o", b"cut"))
    for name, stream in [
        ("nothing", b + hard(b"c", b"x")),
        ("a later file", hard(b"a", b"b") + b),
        ("itself", b + hard(b"c", b"c")),
        ("a link", link(b"l", b"b") + hard(b"m", b"l")),
        ("a folder", folder(b"d") + hard(b"e", b"d")),
        ("a folder with its slash", folder(b"d") + hard(b"e", b"d/")),
        ("the root", ROOT + hard(b"e", b"./")),
        ("a FIFO", entry(b"f", b"6") + hard(b"g", b"f")),
        ("no path", b + hard(b"c", b"")),
        ("a file outside", hard(b"c", b"/etc/passwd")),
        ("a file above", hard(b"c", b"../x")),
        ("another spelling", folder(b"d") + entry(b"d/a") + hard(b"e", b"d//a")),
        ("a file below a link", folder(b"d") + entry(b"d/a") + link(b"l", b"d") + hard(b"m", b"l/a")),
    ]:
        only_v2(f"hard link to {name}", stream, "TreeLink")
    only_v2("hard link with data", b + hard(b"c", b"b", data=b"1"), "TreeDamaged")
    only_v2("hard link with the name of its file", b + hard(b"b", b"b"), "TreeDuplicate")
    only_v2("below a hard link", b + hard(b"c", b"b") + entry(b"c/d"), "TreeDamaged")


def sparse_file(numbers, data=b"", size=1 << 20, stored=None, records=SPARSE_KEYS, path=b"a", **fields):
    """A sparse file. `stored` is the size of its data and map, if not the true one."""
    values = dict(zip(SPARSE_KEYS, (b"1", b"0", path, b"%d" % size), strict=True))
    stream = numbers if isinstance(numbers, bytes) else b"".join(b"%d\n" % number for number in numbers)
    stream = fill(stream) + data
    length = octal(len(stream) if stored is None else stored, 12)
    return pax(*((key, values[key]) for key in records)) + entry(
        b"GNUSparseFile.0/a", data=stream, **{"size": length, **fields}
    )


def sparse_files():
    k = b"k" * 4096
    only_v2("sparse", sparse_file([2, 65536, 4096, 2**20, 0], k))
    only_v2("sparse with data at both ends", sparse_file([2, 0, 4096, 2**20 - 4096, 4096], k + k))
    only_v2("sparse without a segment at its end", sparse_file([1, 65536, 4096], k))
    only_v2("sparse that is one hole", sparse_file([1, 2**20, 0]))
    only_v2("sparse of no segments", sparse_file([0]))
    only_v2("sparse of no bytes", sparse_file([1, 0, 0], size=0))
    only_v2("sparse with segments that touch", sparse_file([3, 0, 1024, 1024, 0, 1024, 3072], k))
    only_v2("sparse with a fill", sparse_file([1, 3, 5], b"12345", size=8))
    only_v2("sparse file with a hard link", sparse_file([1, 65536, 4096], k) + hard(b"b", b"a"))
    for name, numbers, data, more in [
        ("overlaps", [2, 0, 2048, 1024, 2048], k, {}),
        ("is not sorted", [2, 4096, 2048, 0, 2048], k, {}),
        ("exceeds the size", [1, 2**20 - 4095, 4096], k, {}),
        ("begins after the size", [1, 2**20 + 1, 0], b"", {}),
        ("exceeds 2^64", [1, 2**64 - 4096, 8192], k + k, {}),
        ("says more than there is", [1, 0, 4097], k, {}),
        ("says less than there is", [1, 0, 4095], k, {}),
        ("has more segments than there are", [2, 0, 4096], k, {}),
        ("has fewer segments than it says", [2, 0, 4096], b"", {}),
        ("is empty", b"", b"", {}),
        ("counts 2^64", [2**64, 0, 0], b"", {}),
        ("has a letter", b"x\n0\n4096\n", k, {}),
        ("has a minus", b"1\n-1\n0\n", b"", {}),
        ("has a space", b"1\n 0\n0\n", b"", {}),
        ("has an empty line", b"1\n\n0\n", b"", {}),
        ("does not end", b"1\n0\n" + b"1" * 600, b"", {}),
        ("has another fill", b"1\n0\n4096\n\1", k, {}),
        ("is shorter than it says", [1, 0, 4096], k, {"stored": 4096 + 511}),
        ("is cut", [1, 0, 4096], k, {"stored": 3}),
    ]:
        stream = sparse_file(numbers, data, **more)
        only_v2(f"sparse map that {name}", stream, "TreeDamaged")
    # Each segment of no bytes takes four bytes in the map.
    most = (MAX_MAP - 7) // 4
    full = b"%06d\n" % most + b"0\n0\n" * most
    only_v2("sparse map of 1 MiB", sparse_file(full + b"\0" * (MAX_MAP - len(full))))
    only_v2("sparse map of more than 1 MiB", sparse_file(b"%06d\n" % (most + 1) + b"0\n0\n" * (most + 1)), "TreeDamaged")
    for number, key in enumerate(SPARSE_KEYS):
        rest = SPARSE_KEYS[:number] + SPARSE_KEYS[number + 1 :]
        only_v2(f"sparse without {key.decode()}", sparse_file([1, 0, 4096], k, records=rest), "TreeDamaged")
        only_v2(f"{key.decode()} twice", sparse_file([1, 0, 4096], k, records=[key, *SPARSE_KEYS]), "TreeDamaged")
    for key in [b"GNU.sparse.map", b"GNU.sparse.offset", b"GNU.sparse.size", b"GNU.sparse."]:
        only_v2(f"record {key.decode()}", pax((key, b"1")) + A, "TreeSpecialFile")
    only_v2("sparse file that leads out", sparse_file([0], path=b"../a"), "TreePath")
    only_v2("sparse file twice", A + sparse_file([0]), "TreeDuplicate")
    only_v2("sparse folder", sparse_file([0], stored=0, typeflag=b"5")[: 3 * BLOCK], "TreeDamaged")


# Index

OWNER = Owner(1000, 1000, b"ada", b"users")
TREE = [
    Entry((), "folder", 0o755, 0, owner=OWNER),
    Entry((b"a",), "file", 0o4644, 5, b"1", owner=OWNER),
    Entry((b"d",), "folder", 0o1777, -1, owner=OWNER),
    Entry((b"d", b"b"), "hardlink", 0o4644, 5, target=b"a", owner=OWNER),
    Entry((b"d-",), "file", 0o600, 10**18, b"2" * 600, owner=Owner(1, 2**31)),
    Entry((b"l",), "link", 0o777, 7 * NANOSECONDS, target=b"d/b"),
]
PLAIN = write(TREE)
_, TAR_LENGTH = read_index(PLAIN)
TAR = PLAIN[:TAR_LENGTH]
LINES = [line_of(entry_) for entry_ in TREE]


def changed(at, **fields):
    """The lines with one that differs."""
    return [dataclasses.replace(line, **fields) if number == at else line for number, line in enumerate(LINES)]


def reordered(*numbers):
    """These lines, with ascending places: only the order of the paths is wrong."""
    places = sorted(LINES[number].place for number in numbers)
    return [dataclasses.replace(LINES[number], place=place) for number, place in zip(numbers, places, strict=True)]


def index(name, lines, refusal="TreeDamaged", tar_length=TAR_LENGTH, **more):
    INDEXES.append((name, TAR + join_index(write_blocks(lines, **more), tar_length), refusal))


def raw_index(name, blocks, refusal="TreeDamaged", tar_length=TAR_LENGTH):
    INDEXES.append((name, TAR + join_index(blocks, tar_length), refusal))


def trailer(name, tar_length=TAR_LENGTH, list_length=None, count=len(LINES), magic=b"tressidx", refusal="TreeDamaged"):
    good = TRAILER.unpack(PLAIN[-TRAILER.size :])
    packed = TRAILER.pack(tar_length, good[1] if list_length is None else list_length, count, magic)
    INDEXES.append((name, PLAIN[: -TRAILER.size] + packed, refusal))


def indexes():
    index("index", LINES, None)
    index("one entry in each block", LINES, None, block_size=1)
    index("file that changed", changed(1, changed=True), None)
    index("index that leaves an entry out", LINES[:2] + LINES[3:], None)
    index("index of no entries", [], None)
    index("not sorted", reordered(0, 2, 1, 3, 4, 5))
    index("not sorted, over a border of blocks", reordered(0, 2, 1), block_size=1)
    index("sorted with / as a byte like others", reordered(0, 1, 2, 4, 3, 5))
    index("late root", reordered(1, 0))
    index("places not in order", [LINES[0], dataclasses.replace(LINES[1], place=9), LINES[2]], block_size=1)
    index("name twice", changed(2, path=b"a", kind="file"))
    index("name twice, in two blocks", changed(2, path=b"a", kind="file"), block_size=1)
    index("root twice", changed(1, path=b"", kind="folder", size=0))
    index("root that is a file", changed(0, kind="file"))
    index("two entries in one place", changed(2, place=1))
    index("place beyond the stream", changed(5, place=10**6))
    index("place of 2^64 - 1", changed(5, place=2**64 - 1))
    index("place in the end mark", changed(5, place=TAR_LENGTH // BLOCK - 2))
    index("mode of thirteen bits", changed(1, mode=0o10000))
    index("nanoseconds of 10^9", changed(1, nanoseconds=NANOSECONDS))
    index("folder with a size", changed(2, size=1))
    index("hard link with a size", changed(3, size=1))
    index("link without a target", changed(5, target=b""))
    index("link with NUL", changed(5, target=b"a\0b"))
    index("time of 2^63 - 1", changed(1, seconds=2**63 - 1), None)
    index("time of -2^63", changed(1, seconds=-(2**63)), None)
    for path in [b"/a", b"..", b"a/../b", b"a//b", b"a/", b"./a", b"a\0b", b"n" * 4096]:
        index(f"path {path[:9]!r}", [LINES[0], dataclasses.replace(LINES[1], path=path)], "TreePath")
    first = write_line(LINES[0], None)
    only = lambda block, count=1, path=b"": [(path, count, block)]  # noqa: E731
    raw_index("flag 4", only(first[:3] + b"\6" + first[4:]))
    raw_index("first entry without an owner", only(first[:3] + b"\0" + first[4:9]))
    raw_index("unknown kind", only(first[:2] + b"7" + first[3:]))
    raw_index("shared bytes that are not there", only(b"\1" + first[1:]))
    raw_index("a byte behind the last entry", only(first + b"\0"))
    raw_index("entry that is cut", only(first[:-1]))
    raw_index("block of no entries", [*only(first), (b"", 0, b"")])
    raw_index("more entries than the block has", only(first, 2))
    raw_index("another first path", only(first, path=b"x"))
    raw_index("varint of 2^64", only(first[:4] + b"\x80" * 9 + b"\2" + first[6:]))
    raw_index("varint of eleven bytes", only(first[:4] + b"\x80" * 10 + b"\0" + first[6:]))
    # 17 paths of 4002 bytes that share at most one.
    many = [dataclasses.replace(LINES[1], path=b"%02d" % number + b"n" * 4000, place=number + 1) for number in range(17)]
    big = Entry((b"big",), "file", 0o644, 0, bytes(64 * BLOCK))
    stream = write([TREE[0], big])
    stream = stream[: read_index(stream)[1]]
    for limit, lines, refusal in [("less than 64 KiB", many[:16], None), ("more than 64 KiB", many, "TreeDamaged")]:
        blocks = write_blocks([LINES[0], *lines], block_size=1 << 20)
        assert (len(blocks[0][2]) > MAX_INDEX_BLOCK) == (refusal is not None)
        INDEXES.append((f"block of {limit}", stream + join_index(blocks, len(stream)), refusal))
    trailer("trailer", refusal=None)
    trailer("another mark of the trailer", magic=b"tressidX")
    trailer("tar stream of one block more", tar_length=TAR_LENGTH + BLOCK)
    trailer("tar stream of one block less", tar_length=TAR_LENGTH - BLOCK)
    trailer("tar stream of a byte more", tar_length=TAR_LENGTH + 1)
    trailer("tar stream of no bytes", tar_length=0)
    trailer("tar stream of 2^64 - 512 bytes", tar_length=2**64 - BLOCK)
    trailer("list of a byte more", list_length=TRAILER.unpack(PLAIN[-TRAILER.size :])[1] + 1)
    trailer("list of no bytes", list_length=0)
    trailer("list of 2^64 - 1 bytes", list_length=2**64 - 1)
    trailer("one entry more", count=len(LINES) + 1)
    trailer("no entries", count=0)
    INDEXES.append(("no index", TAR, "TreeDamaged"))
    INDEXES.append(("trailer that is cut", PLAIN[:-1], "TreeDamaged"))
    INDEXES.append(("a byte after the trailer", PLAIN + b"\0", "TreeDamaged"))
    INDEXES.append(("zeros before the index", TAR + bytes(BLOCK) + PLAIN[TAR_LENGTH:], "TreeDamaged"))
    table = varint(len(first)) + varint(1) + counted(b"")
    beyond = TAR + first + table[:-1] + b"\5" + TRAILER.pack(TAR_LENGTH, len(table), 1, b"tressidx")
    INDEXES.append(("list that is cut", beyond, "TreeDamaged"))


def members():
    for name, lines, path in [
        ("another path", changed(1, path=b"b"), b"b"),
        ("another size", changed(1, size=2), b"a"),
        ("another kind", changed(3, kind="file", target=b""), b"d/b"),
        ("the place of its data", changed(1, place=2), b"a"),
        ("the place of another entry", [LINES[0], dataclasses.replace(LINES[4], path=b"a", size=1)], b"a"),
    ]:
        MEMBERS.append((name, TAR + join_index(write_blocks(lines), TAR_LENGTH), path))


for section in [plain_paths, prefixes, headers, numbers, sizes, times, records, extensions, order, links, fills, ends]:
    section()
for section in [metadata, kinds, hard_links, sparse_files, indexes, members]:
    section()
