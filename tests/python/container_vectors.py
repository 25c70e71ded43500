"""Writes vectors/container/: containers and trees with the expected result of a reader.

    container_vectors.py            writes the files
    container_vectors.py --check    fails unless the files are what this program writes

The containers are made from the format page by tress_reader.py and age_by_hand.py, without code of tress. Every "random"
byte comes from SHAKE-256 of the case's name, so that every run writes the same files.
"""

import hashlib
import io
import pathlib
import re
import sys
import tarfile

import age_by_hand as age
import tree_cases
import tress_reader as tress
import tress_tree as tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools" / "vectors"))
import layout  # noqa: E402

FOLDER = ROOT / "vectors" / "container"
TESTDATA = ROOT / "crates" / "container" / "src" / "keys" / "testdata"

# Keys made for these vectors; they protect nothing.
IDENTITIES = {
    "alice": {"type": "age", "value": "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33"},
    "mallory": {"type": "age", "value": "AGE-SECRET-KEY-1YGKWQR0MQAQSLH57JHURMLCXA6CXFSYV72V0QSJSD37QCTLK3FTSNNVSXZ"},
    "passphrase": {"type": "passphrase", "value": "correct horse battery staple"},
    "wrong-passphrase": {"type": "passphrase", "value": "correct horse battery stable"},
    "raw-16": {"type": "raw-key", "value": bytes(range(16)).hex()},
    "raw-32": {"type": "raw-key", "value": bytes(range(32)).hex()},
    "wrong-raw": {"type": "raw-key", "value": bytes(range(1, 17)).hex()},
    "ssh": {"type": "ssh", "value": (TESTDATA / "ssh_ed25519").read_text()},
}
WORK_FACTOR = 10


def source(name):
    """A source of pseudorandom bytes that depend only on the name."""
    stream = io.BytesIO(hashlib.shake_256(b"tress vectors " + name.encode()).digest(1 << 17))
    return stream.read


def public_key(secret):
    """The X25519 public key of an age identity. Does not check the Bech32 checksum."""
    digits = ["qpzry9x8gf2tvdw0s3jn54khce6mua7l".index(c) for c in secret.lower().rpartition("1")[2][:-6]]
    bits = "".join(f"{digit:05b}" for digit in digits)[:256]
    private = int(bits, 2).to_bytes(32, "big")
    return age.public_bytes(age.X25519PrivateKey.from_private_bytes(private))


ALICE = age.x25519(public_key(IDENTITIES["alice"]["value"]))
PASSPHRASE = age.scrypt(IDENTITIES["passphrase"]["value"], WORK_FACTOR)
RAW_16 = age.raw_key(bytes(range(16)))
RAW_32 = age.raw_key(bytes(range(32)))


def text(length):
    """A plaintext in which all chunks differ."""
    return (b"".join(b"%07d\n" % number for number in range(length // 8 + 1)))[:length]


def make(case, plaintext=b"hello, lanes\n", recipients=(ALICE,), change_content=None, change_age=None, **more):
    random = source(case)

    def seal(content):
        content = change_content(content) if change_content else content
        age_file = age.seal(content, recipients, random)
        return change_age(age_file) if change_age else age_file

    return tress.encrypt(plaintext, seal, random=random, **more)


def split(container):
    """Header, prefix, and a list of sealed chunks."""
    _, _, payload = tress.read_frame(container)
    chunks = payload[56:]
    step = tress.SEALED_CHUNK
    return container[: -len(payload)], payload[:56], [chunks[at : at + step] for at in range(0, len(chunks), step)]


def join(header, prefix, chunks):
    return header + prefix + b"".join(chunks)


def flip(data, at, bit=0):
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def filler(age_file_bytes, content_bytes):
    """A stanza without a recipient that pads an age file with one X25519 recipient to exactly this length."""
    empty = len(age.seal(bytes(content_bytes), [ALICE, ("filler-grease", [], b"")], source("filler")))
    missing = age_file_bytes - empty
    # A full body line takes 65 characters for 48 bytes. The argument fills the rest.
    lines = max(missing // 65 - 1, 0)
    argument = missing - 65 * lines - 1
    return "filler-grease", ["x" * argument], bytes(48 * lines)


class Cases:
    def __init__(self):
        self.files, self.tests = {}, []

    def add(self, name, comment, container, identity="alice", error=None, chunk=None, plaintext=None, **more):
        test = {"tcId": len(self.tests) + 1, "name": name, "comment": comment, "file": name + ".tress"}
        test |= {"identity": identity, "result": "invalid" if error else "valid"}
        if error:
            test |= {"error": error} | ({} if chunk is None else {"chunk": chunk})
        else:
            test |= {"plaintextBytes": len(plaintext), "plaintextSha256": hashlib.sha256(plaintext).hexdigest()}
            test |= {"contentType": "file", "contentName": None, "recipients": ["X25519"]} | more
        self.tests.append(test)
        self.files[test["file"]] = container


def valid(cases):
    for length in [0, 1, 16383, 16384, 16385, 40000]:
        name = f"valid-{length}"
        cases.add(name, f"plaintext of {length} bytes", make(name, text(length)), plaintext=text(length))
    name, plaintext = "valid-aes-256", text(20000)
    cases.add(name, "aes-256-ccm", make(name, plaintext, aead=b"aes-256-ccm"), plaintext=plaintext)

    hello = b"hello, lanes\n"

    def recipient(name, comment, recipients, identity, types, **more):
        container = make(name, recipients=recipients, **more)
        cases.add(name, comment, container, identity, plaintext=hello, recipients=types)

    recipient("valid-scrypt", "passphrase", [PASSPHRASE], "passphrase", ["scrypt"])
    recipient("valid-raw-16", "raw key of 16 bytes", [RAW_16], "raw-16", ["tress-raw-key"])
    recipient("valid-raw-32", "raw key of 32 bytes", [RAW_32], "raw-32", ["tress-raw-key"])
    ssh = age.ssh_ed25519((TESTDATA / "ssh_ed25519.pub").read_text())
    recipient("valid-ssh", "SSH key", [ssh], "ssh", ["ssh-ed25519"])
    mixed = ["X25519", "tress-raw-key", "tress-raw-key"]
    recipient("valid-mixed", "three recipients, the last one's key", [ALICE, RAW_16, RAW_32], "raw-32", mixed)
    many = [RAW_16] * 80 + [ALICE]
    recipient("valid-many", "header of two pages", many, "alice", ["tress-raw-key"] * 80 + ["X25519"])
    content = len(tress.write_content(b"aes-128-ccm", b"file", None, bytes(16)))
    for name, comment, size in [
        ("valid-no-padding", "age file that ends on a multiple of 4096", 4096 - 25),
        ("valid-least-padding", "one byte of padding", 4096 - 26),
        ("valid-largest-header", "age file of 65536 bytes", 65536),
    ]:
        recipient(name, comment, [ALICE, filler(size, content)], "alice", ["X25519"])

    name = "valid-name"
    container = make(name, name="Größe & 1.txt")
    cases.add(name, "stored name with UTF-8", container, plaintext=hello, contentName="Größe & 1.txt")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        entry = tarfile.TarInfo("a.txt")
        entry.size = len(hello)
        tar.addfile(entry, io.BytesIO(hello))
    plaintext = archive.getvalue()
    container = make("valid-tree", plaintext, kind=b"tree", name="folder")
    more = {"contentType": "tree", "contentName": "folder"}
    cases.add("valid-tree", "tree", container, plaintext=plaintext, **more)
    name, plaintext = "valid-tree-v2", tree_v2()
    container = make(name, plaintext, kind=b"tree", name="folder", version=2)
    cases.add(name, "tree of version 2; the plaintext is tar stream and index", container, plaintext=plaintext, **more)
    name = "valid-tree-v2-aes-256"
    container = make(name, plaintext, kind=b"tree", version=2, aead=b"aes-256-ccm")
    more = {"contentType": "tree"}
    cases.add(name, "tree of version 2, aes-256-ccm, without a name", container, plaintext=plaintext, **more)


def tree_v2():
    """One entry of each kind."""
    ada, at = tree.Owner(1000, 1000, b"ada", b"users"), 1_769_860_800 * tree.NANOSECONDS

    def entry(path, kind, mode=0o644, **more):
        names = tuple(path.split(b"/")) if path else ()
        return tree.Entry(names, kind, mode, at + len(path), owner=ada, **more)

    holes = tree.Sparse(1 << 20, ((65536, 5), (1 << 20, 0)))
    more = {"attributes": {b"user.note": b"x"}, "acls": {b"access": b"user::rw-,user:7:r--,group::r--,mask::r--,other::r--"}}
    return tree.write(
        [
            entry(b"", "folder", 0o755),
            entry(b"a.txt", "file", 0o4755, data=b"hello, lanes\n", **more),
            entry(b"block", "blockdev", device=(8, 1)),
            entry(b"character", "chardev", device=(1, 3)),
            entry(b"fifo", "fifo"),
            entry(b"folder", "folder", 0o1777),
            entry(b"folder/again", "hardlink", 0o4755, target=b"a.txt"),
            entry(b"holes", "file", data=b"lanes", sparse=holes),
            entry(b"link", "link", 0o777, target=b"/etc/passwd"),
        ]
    )


def wrong_keys(cases):
    cases.add("wrong-key", "another X25519 identity", make("k1"), "mallory", "NoMatchingKey")
    cases.add("wrong-kind", "a passphrase, where recipients are keys", make("k2"), "passphrase", "NoMatchingKey")
    scrypt = make("k3", recipients=[PASSPHRASE])
    cases.add("wrong-passphrase", "another passphrase", scrypt, "wrong-passphrase", "WrongPassphrase")
    cases.add("key-for-passphrase", "a key, where a passphrase is needed", scrypt, "alice", "NoMatchingKey")
    cases.add("wrong-raw", "another raw key", make("k4", recipients=[RAW_16]), "wrong-raw", "NoMatchingKey")
    stanza = ("scrypt", [age.b64(bytes(16)), "21"], bytes(32))
    container = make("k5", recipients=[stanza])
    cases.add("work-factor", "scrypt work factor 21", container, "passphrase", "WorkFactorTooHigh")


def frames(cases):
    good = make("frame")
    aead, age_file, payload = tress.read_frame(good)
    start, end = 25, 25 + len(age_file)

    def add(name, comment, container, error):
        cases.add(name, comment, container, "alice", error)

    add("empty-file", "no bytes at all", b"", "NotAContainer")
    add("other-file", "some other file", b"some other file\n" + good, "NotAContainer")
    add("flipped-magic", "a bit of the first byte", flip(good, 0), "NotAContainer")
    add("endless-line", "no newline in the first 64 bytes", b"tress/v1 " + b"x" * 5000, "NotAContainer")
    add("unknown-version", "version 3", good.replace(b"v1", b"v3", 1), "UnknownVersion")
    add("version-longer", "version 10", good.replace(b"v1", b"v10", 1), "UnknownVersion")
    add("version-2-file", "a file of version 2", make("version-2-file", version=2), "HeaderDamaged")
    add("version-changed", "a file of version 1 that says 2", good.replace(b"v1", b"v2", 1), "HeaderDamaged")
    old, new = (make(f"tree-{version}", tree_v2(), kind=b"tree", version=version) for version in (1, 2))
    add("tree-upgraded", "a tree of version 1 that says 2", old.replace(b"v1", b"v2", 1), "Commitment")
    add("tree-downgraded", "a tree of version 2 that says 1", new.replace(b"v2", b"v1", 1), "Commitment")
    add("tree-aead-mismatch", "a tree that says 256, its content 128", new.replace(b"128", b"256", 1), "AeadMismatch")
    add("tree-unknown-aead", "a tree with AEAD aes-192-ccm", new.replace(b"128", b"192", 1), "UnknownAead")
    add("version-case", "version with a capital letter", good.replace(b"v1", b"V1", 1), "UnknownVersion")
    add("version-spaces", "two spaces in the first line", good.replace(b"v1 ", b"v1  ", 1), "UnknownAead")
    add("unknown-aead", "AEAD aes-192-ccm", good.replace(b"128", b"192", 1), "UnknownAead")
    add("crlf", "first line ends in CR LF", good.replace(b"\n", b"\r\n", 1), "UnknownAead")
    add("aead-mismatch", "first line says 256, the content 128", good.replace(b"128", b"256", 1), "AeadMismatch")
    for name, comment, length, error in [
        ("absurd-length", "age file of 2^32 - 1 bytes", 2**32 - 1, "HeaderTooLarge"),
        ("length-65537", "age file of 65537 bytes", 65537, "HeaderTooLarge"),
        ("length-zero", "age file of no bytes", 0, "HeaderPadding"),
        ("length-short", "length too small by one", len(age_file) - 1, "HeaderPadding"),
        ("length-long", "length too large by one", len(age_file) + 1, "HeaderDamaged"),
        ("length-past-end", "age file that the input does not have", 65536, "Truncated"),
    ]:
        add(name, comment, good[:21] + length.to_bytes(4, "big") + good[start:], error)
    add("no-age-file", "age file of no bytes, zeros behind it", good[:21] + bytes(4075) + payload, "HeaderDamaged")
    add("padding-first", "first byte of the padding", flip(good, end), "HeaderPadding")
    add("padding-last", "last byte of the padding", flip(good, 4095, 7), "HeaderPadding")
    for name, comment, length in [
        ("cut-first-line", "cut in the first line", 12),
        ("cut-length", "cut in the length", 23),
        ("cut-age-file", "cut in the age file", 200),
        ("cut-padding", "cut in the padding", 4095),
        ("cut-payload", "header only", 4096),
        ("cut-salt", "cut in the salt", 4096 + 23),
        ("cut-commitment", "cut in the commitment", 4096 + 55),
        ("cut-chunks", "salt and commitment, no chunk: an empty payload has an empty chunk", 4096 + 56),
        ("cut-tag", "15 bytes of a chunk", 4096 + 56 + 15),
    ]:
        add(name, comment, good[:length], "Truncated")


def age_files(cases):
    good = make("age")
    _, age_file, _ = tress.read_frame(good)
    mac = 25 + age_file.index(b"\n---") + 5

    def add(name, comment, container, error, identity="alice"):
        cases.add(name, comment, container, identity, error)

    add("age-version", "age file of another version", flip(good, 25 + 20), "HeaderDamaged")
    add("age-mac", "a bit of the age header's MAC", flip(good, mac), "HeaderDamaged")
    add("age-stanza-body", "a bit of the wrapped file key", flip(good, mac - 10), "NoMatchingKey")
    add("age-content", "a bit of the sealed content", flip(good, 25 + len(age_file), -1 % 8), "HeaderPadding")
    add("age-content-tag", "a bit of the content's tag", flip(good, 25 + len(age_file) - 1), "HeaderDamaged")
    add("age-nonce", "a bit of the age file's nonce", flip(good, mac + 44 + 3), "HeaderDamaged")
    add("age-cut", "age file without its last byte", make("age1", change_age=lambda a: a[:-1]), "HeaderDamaged")
    add("age-trailing", "a byte behind the age file", make("age2", change_age=lambda a: a + b"x"), "HeaderDamaged")
    armor = lambda a: b"-----BEGIN AGE ENCRYPTED FILE-----\n" + age.b64(a).encode() + b"\n"  # noqa: E731
    add("age-armored", "armored age file", make("age3", change_age=armor), "HeaderDamaged")
    stanza = ("scrypt", [age.b64(bytes(16)), "10"], bytes(32))
    add("scrypt-mixed", "a passphrase beside a key", make("age4", recipients=[ALICE, stanza]), "HeaderDamaged")
    nobody = ("x", [], b"")
    add("stanzas-1025", "1025 stanzas", make("age5", recipients=[ALICE] + [nobody] * 1024), "HeaderTooLarge")
    for name, comment, stanza in [
        ("raw-body", "raw key stanza with a body of 33 bytes", (age.RAW_KEY_TYPE, [age.b64(bytes(16))], bytes(33))),
        ("raw-salt", "raw key stanza with a salt of 15 bytes", (age.RAW_KEY_TYPE, [age.b64(bytes(15))], bytes(32))),
        ("raw-arguments", "raw key stanza with two arguments", (age.RAW_KEY_TYPE, [age.b64(bytes(16)), "x"], bytes(32))),
    ]:
        add(name, comment, make(name, recipients=[stanza, RAW_16]), "HeaderDamaged", "raw-16")

    def content(name, comment, old, new):
        def change(data):
            assert old in data
            return data.replace(old, new, 1)

        add(name, comment, make(name, change_content=change, name="n"), "HeaderDamaged")

    content("content-empty-name", "empty name", b"name n", b"name ")
    content("content-path", "name with a path separator", b"name n", b"name ../n")
    content("content-unknown-line", "a line that the content does not have", b"name n", b"size 1")
    content("content-two-names", "two names", b"name n", b"name n\nname n")
    content("content-order", "lines in another order", b"aead aes-128-ccm\ntype file", b"type file\naead aes-128-ccm")
    content("content-type", "unknown type", b"type file", b"type link")
    content("content-long-key", "a byte too many for the key", b"\n\n", b"\n\n\0")
    content("content-endless", "content far too long", b"name n", b"name " + b"n" * 5000)


def payloads(cases):
    good, other = make("payload", text(40000)), make("payload2", text(40000))
    header, prefix, chunks = split(good)
    _, other_prefix, other_chunks = split(other)
    exact = make("payload3", text(16384))

    def add(name, comment, container, error="ChunkDamaged", chunk=None):
        cases.add(name, comment, container, "alice", error, chunk)

    add("flipped-salt", "a bit of the salt", join(header, flip(prefix, 5), chunks), "Commitment")
    add("flipped-commitment", "a bit of the commitment", join(header, flip(prefix, 55), chunks), "Commitment")
    add("other-prefix", "salt and commitment of another file", join(header, other_prefix, chunks), "Commitment")
    add("other-payload", "payload of another file", join(header, other_prefix, other_chunks), "Commitment")
    for number in range(3):
        changed = [flip(c, 1000) if i == number else c for i, c in enumerate(chunks)]
        add(f"flipped-chunk-{number}", f"a bit of chunk {number}", join(header, prefix, changed), chunk=number)
    first, second, last = chunks
    for name, comment, changed, chunk in [
        ("flipped-tag", "a bit of the second tag", [first, flip(second, -1), last], 1),
        ("flipped-last-tag", "the last bit of the container", [first, second, flip(last, -1, 7)], 2),
        ("flipped-two", "bits of the second and third chunk", [first, flip(second, 0), flip(last, 0)], 1),
        ("swapped", "first two chunks swapped", [second, first, last], 0),
        ("duplicated", "second chunk repeated", [first, second, second, last], 2),
        ("dropped-first", "without the first chunk", [second, last], 0),
        ("dropped-middle", "without the second chunk", [first, last], 1),
        ("from-another", "second chunk from another file", [first, other_chunks[1], last], 1),
        ("last-from-another", "last chunk from another file", [first, second, other_chunks[2]], 2),
        ("cut-in-last", "last chunk without its last byte", [first, second, last[:-1]], 2),
        ("cut-to-tag", "last chunk without its plaintext", [first, second, last[-16:]], 2),
        ("cut-in-middle", "cut in the second chunk", [first, second[:9000]], 1),
        ("extended-1", "a byte behind the last chunk", [first, second, last + b"\0"], 2),
        ("extended-last", "last chunk repeated", [first, second, last, last], 2),
        ("extended-long", "20000 bytes behind the last chunk", [first, second, last + bytes(20000)], 2),
    ]:
        add(name, comment, join(header, prefix, changed), chunk=chunk)
    add("cut-at-border", "without the last chunk", join(header, prefix, [first, second]), "Truncated")
    add("cut-last-to-15", "15 bytes of the last chunk", join(header, prefix, [first, second, last[:15]]), "Truncated")
    add("cut-empty-last", "without the empty last chunk", exact[:-16], "Truncated")


def index(tests):
    return {
        "algorithm": "tress container, versions 1 and 2",
        "source": "tests/python/container_vectors.py, from docs/reference/formats/container.md with PyCA cryptography",
        "licence": "MIT OR Apache-2.0",
        "numberOfTests": len(tests),
        "identities": IDENTITIES,
        "testGroups": [{"type": "TressContainer", "tests": tests}],
    }


def archive(containers):
    """A tar archive of these files, the same in every run."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in sorted(containers.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def runs(data):
    """Hex in which N repetitions of one to four bytes stand as `bytes*N`."""
    words, at = [], 0
    for run in re.finditer(rb"(.{1,4}?)\1{7,}", data, re.DOTALL):
        words += [data[at : run.start()].hex(), f"{run[1].hex()}*{len(run[0]) // len(run[1])}"]
        at = run.end()
    return " ".join(word for word in [*words, data[at:].hex()] if word)


def trees(version):
    """The streams of tree_cases.py for readers of this version."""
    for name, of, stream, refusal in tree_cases.CASES:
        if of == version:
            result = {"result": "invalid", "error": refusal} if refusal else {"result": "valid"}
            yield {"comment": name, "stream": runs(stream), **result}


def main():
    cases = Cases()
    for section in [valid, wrong_keys, frames, age_files, payloads]:
        section(cases)
    names = [test["name"] for test in cases.tests]
    assert len(set(names)) == len(names)
    files = {
        "containers.tar": archive(cases.files),
        "index.json": layout.dumps(index(cases.tests)).encode(),
        "trees.json": layout.dumps(
            layout.document(
                "tress tree, versions 1 and 2",
                "tests/python/tree_cases.py, from docs/reference/formats/container.md",
                layout.OWN,
                [{"type": "TressTree", "version": version, "tests": list(trees(version))} for version in (1, 2)],
            )
        ).encode(),
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    if "--check" in sys.argv[1:]:
        wrong = [name for name, data in files.items() if (FOLDER / name).read_bytes() != data]
        strangers = {path.name for path in FOLDER.iterdir()} - set(files) - {"README.md"}
        if wrong or strangers:
            sys.exit(f"container_vectors: not as written: {wrong} {sorted(strangers)}")
        return
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
