"""Tar streams on which all readers of trees must agree: docs/reference/formats/container.md, "What a reader admits".

CASES has rows of a name, the stream, and the kind of refusal or None. Each row tests one rule of the page.
"""

from tress_tree import BLOCK, GNU, MAX_EXTENSION, USTAR, binary, fill, header, octal, record

END = bytes(2 * BLOCK)
OLD_GNU = {"magic": GNU[:6], "version": GNU[6:]}
CASES = []


def entry(path, flag=b"0", data=b"", **fields):
    """One entry with a ustar header. `fields` replace its fields."""
    common = {"mode": octal(0o640, 8), "size": octal(len(data), 12), "mtime": octal(7, 12), "typeflag": flag}
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


def case(name, stream, refusal=None, end=END):
    CASES.append((name, stream + end, refusal))


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
        ("a//b", b"a//b"),
        ("a/./b", b"a/./b"),
        ("././a", b"././a"),
        (".//a", b".//a"),
        ("file a/", b"a/"),
        ("file ./", b"./"),
        ("file .", b"."),
    ]:
        case(name, entry(path), "TreePath")
    for name, path in [("folder /", b"/"), ("folder a//", b"a//"), ("folder .//", b".//"), ("folder ././", b"././")]:
        case(name, folder(path), "TreePath")
    case("folder .", folder(b"."), "TreePath")
    case("folder ./.", folder(b"./."), "TreePath")
    case("folder ..", folder(b"../"), "TreePath")
    case("link a/", link(b"a/", b"x"), "TreePath")
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
    case("half of each magic", entry(b"a", magic=USTAR[:6], version=GNU[6:]), "TreeDamaged")
    case("owner that is no number", entry(b"a", uid=b"root", gid=b"\xff" * 8, uname=b"root"))
    for flag in [b"1", b"3", b"4", b"6", b"7", b"g", b"S", b"V", b"M", b"D", b"N", b"X", b"A", b"Z", b" ", b"\xff"]:
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
    case("size: digit 9", entry(b"a", size=b"00000000009\0"), "TreeDamaged")
    case("size: binary, more than there is", entry(b"a", size=binary(2**64 - 1, 12)), "TreeDamaged")
    case("size: binary, negative", entry(b"a", size=binary(-1, 12)), "TreeDamaged")
    case("mtime: binary", entry(b"a", mtime=binary(2**33, 12)))
    case("mtime: binary, negative", entry(b"a", mtime=binary(-5, 12)))
    case("mtime: binary, 2^63", entry(b"a", mtime=binary(2**63, 12)), "TreeDamaged")
    case("mtime: binary, -2^63 - 1", entry(b"a", mtime=binary(-(2**63) - 1, 12)), "TreeDamaged")
    case("mtime: empty", entry(b"a", mtime=b""), "TreeDamaged")
    case("mtime: empty, with a record", pax((b"mtime", b"3")) + entry(b"a", mtime=b""))


def sizes():
    case("size record", pax((b"size", b"3")) + entry(b"a", data=b"abc"))
    case("size record with zeros", pax((b"size", b"0003")) + entry(b"a", data=b"abc"))
    case("size record says less", pax((b"size", b"2")) + entry(b"a", data=b"abc"), "TreeDamaged")
    case("size record says more", pax((b"size", b"3")) + entry(b"a", data=b"ab"), "TreeDamaged")
    case("size record, none in the header", pax((b"size", b"3")) + entry(b"a", data=b"abc", size=octal(0, 12)), "TreeDamaged")
    case("size record beyond the stream", pax((b"size", b"8589934592")) + entry(b"a", size=octal(0, 12)), "TreeDamaged")
    for text in [b"", b"-1", b"+3", b"3 ", b" 3", b"0x3", b"3.0", b"18446744073709551616"]:
        case(f"size record {text!r}", pax((b"size", text)) + entry(b"a", data=b"abc"), "TreeDamaged")
    case("folder with data", folder(b"d/", data=b"abc"), "TreeDamaged")
    case("folder with a size", folder(b"d/", size=octal(512, 12)) + fill(b"x"), "TreeDamaged")
    case("link with data", link(b"l", b"a", data=b"abc"), "TreeDamaged")
    case("link with a size record", pax((b"size", b"8589934592")) + link(b"l", b"a"), "TreeDamaged")


def times():
    for text in [b"0", b"7", b"-1", b"-0", b"007", b"7.", b"7.5", b"-0.25", b"7.0000000019", b"-1.0000000001"]:
        case(f"mtime {text!r}", pax((b"mtime", text)) + A)
    for text in [b"", b"-", b".5", b"+1", b"--1", b"1e3", b"1,5", b"1.2.3", b" 1", b"1 ", b"0x1", b"-.5", b"1.-5"]:
        case(f"mtime {text!r}", pax((b"mtime", text)) + A, "TreeDamaged")
    case("mtime 2^63", pax((b"mtime", b"%d" % 2**63)) + A, "TreeDamaged")
    case("mtime -2^63", pax((b"mtime", b"-%d" % 2**63)) + A, "TreeDamaged")


def records():
    case("other records", pax((b"uid", b"x"), (b"SCHILY.xattr.user.a", b"\0"), (b"comment", b"a=b\n"), (b"c", b"")) + A)
    case("other records twice", pax((b"comment", b"1"), (b"comment", b"2")) + A)
    case("hdrcharset", pax((b"hdrcharset", b"BINARY"), (b"path", b"\xff")) + A)
    case("no records", pax() + A)
    case("length with zeros", raw_pax(b"0009 a=b\n") + A)
    case("value with = and newline", pax((b"path", b"a=\nb")) + A)
    case("linkpath of a file", pax((b"linkpath", b"/etc/passwd")) + A)
    for data in [b"6 a=b", b"5 a=b\n", b"7 a=b\n", b" a=b\n", b"x a=b\n", b"6 a b\n", b"5 =b\n", b"0 ", b"1 ", b"+6 a=b\n"]:
        case(f"records {data!r}", raw_pax(data) + A, "TreeDamaged")
    case("records and NUL", raw_pax(b"6 a=b\n\0") + A, "TreeDamaged")
    case("length of 20 digits", raw_pax(b"%020d a=b\n" % 25) + A, "TreeDamaged")
    case("length of 19 digits", raw_pax(b"%019d a=b\n" % 24) + A)
    case("length above 2^64", raw_pax(b"18446744073709551622 a=b\n") + A, "TreeDamaged")
    for key, value in [(b"path", b"a"), (b"linkpath", b"a"), (b"size", b"0"), (b"mtime", b"1")]:
        case(f"{key.decode()} twice", pax((key, value), (key, value)) + A, "TreeDamaged")
    case("sparse by a record", pax((b"GNU.sparse.major", b"1")) + A, "TreeSpecialFile")


def extensions():
    case("x with GNU tar's magic", entry(b"h", b"x", record(b"path", b"b"), **OLD_GNU) + A)
    case("x with the magic of neither", entry(b"h", b"x", record(b"path", b"b"), magic=bytes(6)) + A, "TreeDamaged")
    case("two x", pax((b"mtime", b"1")) + pax((b"path", b"b")) + A, "TreeDamaged")
    case("L", long(b"L", b"b" * 200 + b"\0") + A)
    case("L without NUL", long(b"L", b"b" * 200) + A)
    case("L with ustar's magic", entry(b"h", b"L", b"b\0") + A)
    case("L with two NUL", long(b"L", b"b\0\0") + A, "TreePath")
    case("L of no bytes", long(b"L", b"") + A, "TreePath")
    case("two L", long(b"L", b"b\0") + long(b"L", b"c\0") + A, "TreeDamaged")
    case("K", long(b"K", b"t" * 200 + b"\0") + link(b"l", b"t"))
    case("K of a file", long(b"K", b"/etc/passwd\0") + A)
    case("K leads out", long(b"K", b"../x\0") + link(b"l", b"t"), "TreeLink")
    case("two K", long(b"K", b"t\0") + long(b"K", b"t\0") + link(b"l", b"t"), "TreeDamaged")
    case("K, L", long(b"K", b"t\0") + long(b"L", b"m\0") + link(b"l", b"x"))
    case("L, K", long(b"L", b"m\0") + long(b"K", b"t\0") + link(b"l", b"x"))
    case("x, L", pax((b"mtime", b"1")) + long(b"L", b"b\0") + A, "TreeDamaged")
    case("L, x", long(b"L", b"b\0") + pax((b"mtime", b"1")) + A, "TreeDamaged")
    case("x, K", pax() + long(b"K", b"t\0") + link(b"l", b"t"), "TreeDamaged")
    case("K, x", long(b"K", b"t\0") + pax() + link(b"l", b"t"), "TreeDamaged")
    case("x before the end", pax((b"mtime", b"1")), "TreeDamaged")
    case("L before the end", long(b"L", b"b\0"), "TreeDamaged")
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
    for target in [b"", b"/", b"/a", b"..", b"../a", b"a/..", b"a/../b", b"a/./.."]:
        case(f"link to {target!r} in the root", link(b"l", target), "TreeLink")
    for target in [b"../../..", b"x/..", b"../x/..", b"../../../x", b"../x/../y", b"./../x", b"..//../x"]:
        case(f"d/e/l to {target!r}", inside + link(b"d/e/l", target), "TreeLink")
    case("depth of the link, not of the last folder", inside + link(b"l", b"../x"), "TreeLink")
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
    case("many zeros", A, end=bytes(100 * BLOCK))
    case("no bytes at all", b"", "TreeDamaged", b"")
    case("no end", A, "TreeDamaged", b"")
    case("one block of zeros", A, "TreeDamaged", bytes(BLOCK))
    case("half a block more", A, "TreeDamaged", bytes(2 * BLOCK + 256))
    case("entry after one block", A, "TreeDamaged", bytes(BLOCK) + entry(b"b") + END)
    case("entry after the end", A, "TreeDamaged", END + entry(b"b") + END)
    case("a byte after the end", A, "TreeDamaged", END + b"\1")
    case("a byte in the end", A, "TreeDamaged", bytes(2 * BLOCK - 1) + b"\1")
    case("cut in a header", A + A[:300], "TreeDamaged", b"")
    case("cut in data", entry(b"a", data=b"x" * 600)[: BLOCK + 550], "TreeDamaged", b"")
    case("cut in the fill", entry(b"a", data=b"x" * 600)[: BLOCK + 700], "TreeDamaged", b"")


for section in [plain_paths, prefixes, headers, numbers, sizes, times, records, extensions, order, links, fills, ends]:
    section()
