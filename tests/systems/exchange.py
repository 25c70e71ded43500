#!/usr/bin/env python3
"""Builds of the command for two systems decrypt, verify and receive each other's files.

    HERE=target/debug/tress THERE="qemu-riscv64 -L /usr/riscv64-linux-gnu target/…/tress" tests/systems/exchange.py

No expected value comes from one of the builds alone: a round trip has to return the input, or OpenSSL has to agree.
"""

from __future__ import annotations

import json
import subprocess
import unittest
from pathlib import Path

from commands import CHUNK_BYTES, TIMEOUT_S, System, SystemTest, plaintext

HERE, THERE = System.of("HERE"), System.of("THERE")
ORDERS = ((HERE, THERE), (THERE, HERE))
ROOT = Path(__file__).resolve().parents[2]


class Containers(SystemTest):
    """Files, folders, and operations on containers."""

    def test_files(self) -> None:
        """Lengths around the size of a chunk and of a batch, with both AEADs."""
        cases = [(0, 128), (1, 128), (CHUNK_BYTES - 1, 128), (CHUNK_BYTES, 256), (41 * CHUNK_BYTES + 5, 128)]
        for maker, opener in ORDERS:
            recipient, _ = self.key(opener, f"{opener.name}.key")
            for length, bits in cases:
                with self.subTest(maker=maker.name, length=length):
                    plain = plaintext(length)
                    self.path("in").write_bytes(plain)
                    self.ok(maker, "encrypt", "-r", recipient, "--aead", f"aes-{bits}-ccm", "-o", "sealed", "in")
                    self.ok(opener, "decrypt", "-i", f"{opener.name}.key", "-o", "out", "sealed")
                    self.assertEqual(self.path("out").read_bytes(), plain)
                    self.path("sealed").unlink()
                    self.path("out").unlink()

    def test_pipes_ranges_and_inspection(self) -> None:
        """Streams, a range over the border of two chunks, and `inspect`."""
        plain = plaintext(3 * CHUNK_BYTES + 100)
        for maker, opener in ORDERS:
            with self.subTest(maker=maker.name):
                identity = f"{opener.name}.key"
                recipient, _ = self.key(opener, identity)
                sealed = self.ok(maker, "encrypt", "-r", recipient, stdin=plain).stdout
                self.assertEqual(self.ok(opener, "decrypt", "-i", identity, stdin=sealed).stdout, plain)
                self.path("sealed").write_bytes(sealed)
                some = self.ok(opener, "decrypt", "-i", identity, "--range", "16380:16400", "sealed").stdout
                self.assertEqual(some, plain[16380:16400])
                told = [json.loads(self.ok(who, "inspect", "--json", "sealed").text) for who in (maker, opener)]
                self.assertEqual(told[0], told[1])
                self.assertEqual((told[0]["plaintext_bytes"], told[0]["chunks"]), (len(plain), 4))
                verified = json.loads(self.ok(opener, "inspect", "--json", "-i", identity, "sealed").text)
                self.assertTrue(verified["verified"])

    def test_trees(self) -> None:
        """Round trips of folders, with names that are not ASCII."""
        tree = self.path("Größe 尺")
        (tree / "leer").mkdir(parents=True)
        (tree / "tief" / "tiefer").mkdir(parents=True)
        (tree / "tief" / "日本語.txt").write_bytes(plaintext(40_000))
        (tree / "tief" / "tiefer" / "a b").write_bytes(b"")
        run = tree / "run.sh"
        run.write_bytes(b"#!/bin/sh\n")
        run.chmod(0o755)
        for maker, opener in ORDERS:
            with self.subTest(maker=maker.name):
                identity, out = f"{opener.name}.key", f"{opener.name} öffnet"
                recipient, _ = self.key(opener, identity)
                self.ok(maker, "encrypt", "-r", recipient, "-o", f"{maker.name}.tress", tree.name)
                self.ok(opener, "decrypt", "-i", identity, "-o", out, f"{maker.name}.tress")
                self.same_files(tree, self.path(out))
                opened = self.path(out) / "run.sh"
                if not (maker.is_windows or opener.is_windows):
                    self.assertEqual(opened.stat().st_mode & 0o777, 0o755)
                # The coarsest file systems have a resolution of two seconds.
                self.assertAlmostEqual(opened.stat().st_mtime, run.stat().st_mtime, delta=2)
                self.refused(1, opener, "decrypt", "-i", identity, "-o", out, f"{maker.name}.tress")
                self.ok(opener, "decrypt", "-i", identity, "-o", out, "--force", f"{maker.name}.tress")
                self.same_files(tree, self.path(out))

    def test_rewrap_and_key_files(self) -> None:
        """The other system rewraps a container; the payload stays the same."""
        plain = plaintext(100_000)
        self.path("raw.key").write_bytes(plaintext(32))
        for maker, other in ORDERS:
            with self.subTest(maker=maker.name):
                recipient, _ = self.key(maker, f"{maker.name}.key")
                self.path("sealed").write_bytes(self.ok(maker, "encrypt", "--key-file", "raw.key", stdin=plain).stdout)
                before = self.path("sealed").read_bytes()
                self.ok(other, "rewrap", "--open-key-file", "raw.key", "-r", recipient, "sealed")
                after = self.path("sealed").read_bytes()
                self.assertNotEqual(after, before)
                self.assertEqual(after[-len(plain):], before[-len(plain):])
                opened = self.ok(maker, "decrypt", "-i", f"{maker.name}.key", "sealed").stdout
                self.assertEqual(opened, plain)
                self.refused(1, other, "decrypt", "--key-file", "raw.key", "-o", "out", "sealed")
                self.path("sealed").unlink()

    def test_refusals(self) -> None:
        """Damage, wrong keys and existing names lead to an error and leave no file, on both systems."""
        plain = plaintext(3 * CHUNK_BYTES)
        for maker, opener in ORDERS:
            with self.subTest(maker=maker.name):
                recipient, _ = self.key(opener, f"{opener.name}.key")
                self.key(opener, f"{opener.name}.other")
                sealed = self.ok(maker, "encrypt", "-r", recipient, stdin=plain).stdout
                self.path("good").write_bytes(sealed)
                damage = {"header": 30, "payload": len(sealed) - 2 * CHUNK_BYTES, "end": len(sealed) - 1}
                for where, at in damage.items():
                    self.path(where).write_bytes(sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1:])
                self.path("short").write_bytes(sealed[:-CHUNK_BYTES])
                for name in [*damage, "short"]:
                    self.refused(1, opener, "decrypt", "-i", f"{opener.name}.key", "-o", "out", name)
                self.refused(1, opener, "decrypt", "-i", f"{opener.name}.other", "-o", "out", "good")
                self.refused(1, opener, "decrypt", "-i", f"{opener.name}.key", "-o", "short", "good")
                self.refused(1, opener, "decrypt", "-i", f"{opener.name}.key", "-o", "good", "--force", "good")
                self.assertEqual(self.path("good").read_bytes(), sealed)
                self.refused(1, opener, "decrypt", "-i", f"{opener.name}.key", "-o", "no/out", "good")
                self.refused(1, opener, "keygen", "-o", f"{opener.name}.key")
                self.refused(2, opener, "encrypt", "-o", "out", "good")
                self.ok(opener, "decrypt", "-i", f"{opener.name}.key", "-o", "short", "--force", "good")
                self.assertEqual(self.path("short").read_bytes(), plain)


class Others(SystemTest):
    """Signatures, bare ciphers, transfers, and plans."""

    def test_signatures(self) -> None:
        """Every scheme, keys of either system and of OpenSSL, many files in one call."""
        files = [f"Datei {number}" for number in range(9)]
        for number, name in enumerate(files):
            self.path(name).write_bytes(plaintext(1000 * number))
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "rsa.pem"],
            cwd=self.folder, check=True, capture_output=True,
        )
        for signer, verifier in ORDERS:
            self.ok(signer, "keygen", "--schnorr", "2048", "-o", f"{signer.name}.schnorr")
            self.ok(signer, "keygen", "--dsa", "2048", "-o", f"{signer.name}.dsa")
            keys = [("rsa.pem", "rsa-pss-sha256"), ("rsa.pem", "rsa-pkcs1-sha256"),
                    (f"{signer.name}.schnorr", "schnorr-sha256"), (f"{signer.name}.dsa", "dsa-sha256")]
            for key, scheme in keys:
                with self.subTest(signer=signer.name, scheme=scheme):
                    self.path("public").write_bytes(self.ok(signer, "keygen", "--public", key).stdout)
                    self.ok(signer, "sign", "--force", "--key", key, "--scheme", scheme, *files)
                    self.ok(verifier, "verify", "--key", "public", "--scheme", scheme, *files)
                    wrong = [f"--signature={files[1]}.sig", files[2]]
                    self.refused(1, verifier, "verify", "--key", "public", "--scheme", scheme, *wrong)

    def test_bare_ciphers(self) -> None:
        """Every kind of cipher and mode gives the same bytes on both systems, and in OpenSSL if it has the cipher."""
        plain = plaintext(5000)
        cases = [("aes-128-ctr", 16, 16), ("aes-256-cbc", 32, 16), ("aes-192-ecb", 24, 0), ("aes-128-ccm", 16, 12),
                 ("rijndael-256-192-cbc", 24, 32), ("rijndael-160-160-ctr", 20, 20), ("rc6-128-ctr", 16, 16),
                 ("rc6-256-ccm", 32, 13), ("lea-192-ctr", 24, 16), ("pipo-128-cbc", 16, 8), ("pipo-256-ctr", 32, 8)]
        for cipher, key_bytes, iv_bytes in cases:
            with self.subTest(cipher=cipher):
                key, iv = plaintext(key_bytes).hex(), plaintext(iv_bytes).hex()
                options = ["--cipher", cipher, "--key", key, *(["--iv", iv] if iv else [])]
                made = [self.ok(who, "raw", "encrypt", *options, stdin=plain).stdout for who in (HERE, THERE)]
                self.assertEqual(made[0], made[1])
                self.assertEqual(self.ok(THERE, "raw", "decrypt", *options, stdin=made[0]).stdout, plain)
                if cipher.startswith("aes") and not cipher.endswith("ccm"):
                    line = ["openssl", "enc", f"-{cipher}", "-K", key, *(["-iv", iv] if iv else [])]
                    theirs = subprocess.run(line, input=plain, check=True, capture_output=True).stdout
                    self.assertEqual(made[1], theirs)
                if cipher.endswith("ccm"):
                    changed = bytes([made[0][0] ^ 1]) + made[0][1:]
                    self.refused(1, THERE, "raw", "decrypt", *options, "-o", "out", stdin=changed)

    def test_transfers(self) -> None:
        """Each system sends a file and a folder to the other over the loopback interface."""
        tree = self.path("ordner")
        (tree / "unter").mkdir(parents=True)
        (tree / "unter" / "größe").write_bytes(plaintext(70_000))
        self.path("file").write_bytes(plaintext(41 * CHUNK_BYTES))
        for sender, receiver in ORDERS:
            with self.subTest(sender=sender.name):
                _, from_ = self.key(sender, f"{sender.name}.s")
                _, to = self.key(receiver, f"{receiver.name}.r")
                self.path("allow").write_text(from_ + "\n")
                inbox = f"inbox {receiver.name}"
                self.path(inbox).mkdir()
                arguments = ["-i", f"{receiver.name}.r", "--allow", "allow", "-o", inbox, "--once"]
                with self.receiver(receiver, *arguments) as (process, address):
                    self.ok(sender, "send", "--to", address, "-r", to, "-i", f"{sender.name}.s", "file", "ordner")
                    out, errors = process.communicate(timeout=TIMEOUT_S)
                    self.assertEqual(process.returncode, 0, errors)
                self.assertEqual(len(out.splitlines()), 2, out)
                [arrived] = self.path(inbox).iterdir()
                self.assertEqual((arrived / "file").read_bytes(), self.path("file").read_bytes())
                self.same_files(tree, arrived / "ordner")

    def test_what_is_computed(self) -> None:
        """Plans are the same on every system, and so are lists of ciphers, except for the backends that are available."""
        lines = [["plan", "--json", "--size", "1GiB", "--compute-rate", "100MB", "--link-rate", "1Gbit", "--sync-cost", "10us"]]
        for line in lines:
            with self.subTest(line=line):
                told = [json.loads(self.ok(who, *line).text) for who in (HERE, THERE)]
                self.assertEqual(told[0], told[1])
        told = [json.loads(self.ok(who, "ciphers", "--json").text) for who in (HERE, THERE)]
        names = [[(cipher["name"], cipher["modes"]) for cipher in each] for each in told]
        self.assertEqual(names[0], names[1])
        for cipher in told[1]:
            self.assertEqual(sum(backend["chosen"] for backend in cipher["backends"]), 1, cipher)


if __name__ == "__main__":
    unittest.main(verbosity=2)
