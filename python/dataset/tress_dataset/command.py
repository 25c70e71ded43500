"""`tress-dataset`: the command line of this package, for shells and job arrays.

Exit status, as for `tress`: 0 done, 1 failed (an object, a store, or no matching key), 2 usage error.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from . import decrypt, encrypt, rewrap, verify
from .errors import DatasetError, UsageError
from .keys import Secret
from .names import Part
from .progress import Terminal
from .retry import Retry
from .stores import text_without_secrets, without_secrets
from .summary import Summary, printable

NAME = "tress-dataset"


class _Interrupted(KeyboardInterrupt):
    def __init__(self, number: int):
        super().__init__()
        self.number = number


def _interrupt(number: int, _: object) -> NoReturn:
    # Ignores further signals, so that they do not interrupt the clean-up.
    signal.signal(number, signal.SIG_IGN)
    raise _Interrupted(number)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(_fail(text_without_secrets(message), 2))

    def _print_message(self, message: str, file: Any = None) -> None:
        """Prints help or the version. argparse itself ignores a failure."""
        if status := _print_result(message):
            raise SystemExit(status)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        import tress

        parser.exit(_print_result(f"{NAME} {tress.__version__}\n"))


def _say(text: str) -> None:
    """Prints a line to standard error, which may be closed or full."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def _fail(text: str, status: int) -> int:
    _say(f"{NAME}: error: {text}")
    return status


def _print_result(text: str) -> int:
    """Writes to standard output, and returns the exit status: 1 if it is closed, full, or a pipe without a reader."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError, ValueError, AttributeError):  # Python would write the rest again when it exits.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
        return _fail(f"standard output: {error.strerror}", 1)
    return 0


def _print_object(name: str, count: int) -> None:
    """Prints a line of a dry run: the size of an object in bytes, and its name."""
    if status := _print_result(f"{count}\t{printable(name)}\n"):
        raise SystemExit(status)


def parser() -> argparse.ArgumentParser:
    """Returns the parser of all commands and options."""
    top = _Parser(prog=NAME, description="Encrypt, decrypt, verify or rewrap every object of a folder or bucket.")
    top.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = top.add_subparsers(dest="verb", required=True, metavar="COMMAND", parser_class=_Parser)
    for verb, text in (
        ("encrypt", "encrypt every object of SOURCE to NAME.tress in TARGET"),
        ("decrypt", "decrypt every container NAME.tress of SOURCE to NAME in TARGET"),
        ("verify", "check every container of TARGET; writes nothing"),
        ("rewrap", "change the recipients of every container of TARGET; old copies stay readable"),
    ):
        one = commands.add_parser(verb, help=text, description=text[0].upper() + text[1:] + ".")
        if verb in ("encrypt", "decrypt"):
            one.add_argument("source", metavar="SOURCE", help="a folder or a URL (s3://, sftp://, ...)")
        one.add_argument("target", metavar="TARGET", help="a folder or a URL")
        if verb in ("encrypt", "rewrap"):
            one.add_argument(
                "-r",
                "--recipient",
                action="append",
                default=[],
                metavar="RECIPIENT",
                help="public key that can decrypt: age1..., tress1... or ssh-...; repeat for several",
            )
            one.add_argument(
                "-R",
                "--recipients-file",
                action="append",
                default=[],
                metavar="FILE",
                help="file with one recipient per line",
            )
        if verb == "encrypt":
            one.add_argument(
                "--aead",
                choices=("aes-128-ccm", "aes-256-ccm"),
                default="aes-128-ccm",
                help="cipher of the payload [default: %(default)s]",
            )
            one.add_argument(
                "--ignore-ctime", action="store_true", help="skip files that only chmod, mv or ln touched, too"
            )
        if verb != "encrypt":
            one.add_argument(
                "-i",
                "--identity",
                action="append",
                default=[],
                metavar="FILE",
                help="identity file, which has the private key",
            )
        if verb in ("decrypt", "verify"):
            one.add_argument(
                "--accept-moved",
                action="store_true",
                help="accept containers that were made for an object of another name",
            )
        if verb == "rewrap":
            one.add_argument(
                "--new-key-file",
                action="append",
                default=[],
                metavar="FILE",
                help="file with a raw key, 16 or 32 bytes, to encrypt to",
            )
        if verb == "verify":
            one.add_argument(
                "--against",
                default="manifest",
                metavar="SOURCE",
                help="compare with this source; 'nothing' only decrypts [default: %(default)s]",
            )
        one.add_argument(
            "--key-file", action="append", default=[], metavar="FILE", help="file with a raw key, 16 or 32 bytes"
        )
        one.add_argument(
            "--passphrase-file", metavar="FILE", help="file with a passphrase; slow, about a second per object"
        )
        _common(one)
    return top


def _common(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "--shard", metavar="I/N", help="process only part I of N, for job arrays; names are divided by hash"
    )
    for option, what in (("--include", "process only objects"), ("--exclude", "leave out objects")):
        one.add_argument(
            option,
            action="append",
            metavar="GLOB",
            help=f"{what} whose names match; * also matches /; repeat for several",
        )
    one.add_argument(
        "--manifest-key",
        metavar="FILE",
        help="file with a raw key, 16 or 32 bytes, for MACs in the manifest: without it, exchanged, dropped and "
        "renamed objects may not be noticed",
    )
    one.add_argument("--workers", type=int, metavar="N", help="number of processes [default: one per core]")
    one.add_argument("--concurrency", type=int, metavar="N", help="objects that each process handles at the same time")
    one.add_argument(
        "--attempts",
        type=int,
        default=Retry.attempts,
        metavar="N",
        help="attempts for each object [default: %(default)s]",
    )
    one.add_argument("--force", action="store_true", help="process all objects again and replace existing ones")
    one.add_argument("--dry-run", action="store_true", help="list the objects that would be processed; writes nothing")
    one.add_argument("--failed", metavar="FILE", help="write the list of failed objects to FILE")
    one.add_argument("--json", action="store_true", help="print the summary as one JSON object")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns the exit status."""
    given = parser().parse_args(arguments)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
        number = getattr(signal, name, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP, and the command should survive it
            signal.signal(number, _interrupt)
    terminal = Terminal() if sys.stderr is not None and sys.stderr.isatty() and not given.dry_run else None
    try:
        summary = _run(given, terminal)
    except UsageError as error:
        return _print_error(terminal, _shown(error, given), 2)
    except _Interrupted as interrupted:
        _print_error(terminal, "interrupted; run the same command again to continue", 1)
        signal.signal(interrupted.number, signal.SIG_DFL)
        os.kill(os.getpid(), interrupted.number)
        return 128 + interrupted.number
    except Exception as error:  # exceptions of a store may have any type
        return _print_error(terminal, _shown(error, given), 1)
    if terminal is not None:
        terminal.clear()
    return _print_summary(summary, given.json)


def _run(given: argparse.Namespace, terminal: Terminal | None) -> Summary:
    if given.attempts < 1:
        raise UsageError("--attempts must be at least 1")
    try:
        part = None if given.shard is None else Part.parse(given.shard)
    except ValueError as error:
        raise UsageError(str(error)) from None
    how: dict[str, Any] = {
        "part": part,
        "workers": given.workers,
        "concurrency": given.concurrency,
        "retry": Retry(attempts=given.attempts),
        "force": given.force,
        "dry_run": given.dry_run and (given.json or _print_object),
        "manifest_key": None if given.manifest_key is None else _secrets([given.manifest_key], None)[0],
        "include": given.include,
        "exclude": given.exclude,
        "failed_list": given.failed,
        "progress": terminal,
        "warn": lambda text: _say(f"{NAME}: warning: {text}"),
        "check": False,
    }
    if given.verb == "encrypt":
        to = _recipients(given) + _secrets(given.key_file, given.passphrase_file)
        return encrypt(given.source, given.target, to, aead=given.aead, ignore_ctime=given.ignore_ctime, **how)
    opens = [_read(path) for path in given.identity] + _secrets(given.key_file, given.passphrase_file)
    if given.verb == "decrypt":
        return decrypt(given.source, given.target, opens, accept_moved=given.accept_moved, **how)
    if given.verb == "verify":
        how["against"] = None if given.against == "nothing" else given.against
        return verify(given.target, opens, accept_moved=given.accept_moved, **how)
    return rewrap(given.target, opens, _recipients(given) + _secrets(given.new_key_file, None), **how)


def _recipients(given: argparse.Namespace) -> list[Any]:
    return [*given.recipient, *(_read(path) for path in given.recipients_file)]


def _read(path: str) -> str:
    try:
        return Path(path).read_bytes().decode()
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not a text file") from None


def _secrets(key_files: Sequence[str], passphrase_file: str | None) -> list[Any]:
    secrets: list[Any] = []
    for path in key_files:
        try:
            secrets.append(Secret(Path(path).read_bytes()))
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from None
    if passphrase_file is not None:
        text = _read(passphrase_file)
        for end in ("\r\n", "\n"):
            if text.endswith(end):
                text = text[: -len(end)]
                break
        secrets.append(Secret(text))
    return secrets


def _shown(error: BaseException, given: argparse.Namespace) -> str:
    """Returns the error in one line, without secrets of an address."""
    name = getattr(error, "filename", None)
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = f"{name}: {error.strerror}" if name else error.strerror
    text = text_without_secrets(text, getattr(given, "source", None), given.target)
    place = getattr(error, "place", without_secrets(given.target))
    return text if name or place in text or isinstance(error, DatasetError) else f"{place}: {text}"


def _print_error(terminal: Terminal | None, text: str, status: int) -> int:
    if terminal is not None:
        terminal.clear()
    return _fail(text, status)


def _print_summary(summary: Summary, as_json: bool) -> int:
    for failure in summary.failures:
        _fail(f"{printable(failure.name)}: {failure.message}", 1)
    if summary.failed > len(summary.failures):
        _fail(f"and {summary.failed - len(summary.failures)} more", 1)
    if summary.failed_list is not None:
        _say(f"{NAME}: the complete list of failed objects is {summary.failed_list}")
    for line in [*summary.table(), summary.sentence()]:
        _say(line)
    status = _print_result(json.dumps(summary.as_dict()) + "\n") if as_json else 0
    return status if summary.ok else 1


if __name__ == "__main__":
    sys.exit(main())
