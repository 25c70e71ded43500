"""Processes one object: reads, encrypts or decrypts, and writes it. Fails if the object changes while it is read."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .codec import Codec, Opening, TreeInside
from .errors import Differs, Moved, ObjectError, Stopped, Twins, WrongSize
from .manifest import DoneLine, Identity
from .names import AGE, Item, container_name, is_name_digest, name_digest, plain_name
from .shards import WorkItem
from .stores import BLOCK, Reading, Replace, Store


@dataclass(frozen=True)
class ShardContext:
    """The state that all objects of a shard share."""

    verb: str
    run: str
    source: Store | None
    """The store that is read; None for `rewrap` and for `verify` against the manifest."""
    target: Store
    codec: Codec
    recipients: str | None
    stopped: threading.Event
    accept_moved: bool = False
    """Whether to accept containers of other objects."""
    has_macs: bool = False
    """Whether lines of the manifest are trusted, because they have MACs."""
    unbound: list[str] = field(default_factory=list)
    """Containers that do not record the name of their object."""

    def raise_if_stopped(self) -> None:
        """Raises `Stopped` if the run was stopped."""
        if self.stopped.is_set():
            raise Stopped("the run was stopped")


def transfer(context: ShardContext, work: WorkItem, attempt: int = 1) -> DoneLine:
    """Processes one object, and returns its line for the manifest."""
    if context.verb == "encrypt":
        return _encrypt(context, _source(context), work)
    if context.verb == "decrypt":
        return _decrypt(context, _source(context), work)
    if context.verb == "verify":
        return _verify(context, work)
    return _rewrap(context, work, attempt)


def _blocks(context: ShardContext, reading: Reading) -> Iterator[Any]:
    """Yields the bytes of an object. Raises `Changed` if their number differs from the object's size."""
    count = 0
    for block in reading.blocks():
        context.raise_if_stopped()
        count += len(block)
        yield block
    _compare(reading, count)


def _compare(reading: Reading, count: int) -> None:
    """Raises `Changed` if the object changed, or is longer or shorter than its store says."""
    if count != reading.item.size:
        reading.unchanged()
        length = f"more than {reading.item.size}" if count > reading.item.size else f"only {count}"
        raise WrongSize(f"its store reports {reading.item.size} bytes, and reading it gives {length}")


def _whole(context: ShardContext, reading: Reading) -> bytes:
    """Returns the bytes of an object. Raises `Changed` if their number differs from the object's size."""
    context.raise_if_stopped()
    data = reading.whole()
    _compare(reading, len(data))
    return data


def _source(context: ShardContext) -> Store:
    assert context.source is not None, "these commands have a source"
    return context.source


def _refuse_twins(source: Store, work: WorkItem) -> None:
    """Raises `Twins` if what would be replaced may come from another container that is still there."""
    other = container_name(work.target, source.longest) if work.name.endswith(AGE) else work.target + AGE
    try:
        source.stat(other)
    except (OSError, ObjectError):
        return
    raise Twins


def _encrypt(context: ShardContext, source: Store, work: WorkItem) -> DoneLine:
    with source.read(Item(work.name, work.size, work.token)) as reading:
        item = reading.item
        about = {
            "content-type": "application/octet-stream",
            "tress-plaintext-bytes": str(item.size),
            "tress-run": context.run,
        }
        if kind := reading.about.get("content-type"):
            about["tress-content-type"] = kind
        meter = context.codec.meter()
        if item.size <= BLOCK:
            plain = _whole(context, reading)
            reading.unchanged()
            sealed = context.codec.seal_whole(plain, name_digest(work.name))
            meter.update(sealed)
            with context.target.write(work.target, len(sealed), about, work.replace) as out:
                out.write(sealed)
                written = out.commit()
        else:
            push = context.codec.seal(name_digest(work.name))
            with context.target.write(work.target, item.size + item.size // 1000, about, work.replace) as out:
                for block in _blocks(context, reading):
                    sealed = push.update(block)
                    meter.update(sealed)
                    out.write(sealed)
                sealed = push.finalize()
                meter.update(sealed)
                out.write(sealed)
                reading.unchanged()
                written = out.commit()
    return _line(context, work.target, item, written, meter.finish(), item.size)


def _decrypt(context: ShardContext, source: Store, work: WorkItem) -> DoneLine:
    if work.replace is Replace.ALWAYS:
        _refuse_twins(source, work)
    with source.read(Item(work.name, work.size, work.token)) as reading:
        item = reading.item
        about = {"tress-run": context.run}
        if kind := reading.about.get("tress-content-type"):
            about["content-type"] = kind
        meter = context.codec.meter()
        if item.size <= BLOCK:
            sealed = _whole(context, reading)
            reading.unchanged()
            opening = context.codec.open()
            plain = opening.update(sealed)
            _refuse_tree(opening)
            plain += opening.finalize()
            _check_name(context, opening, work.target)
            meter.update(sealed)
            payload_id = meter.finish()
            _compare_with_manifest(work, payload_id)
            count = len(plain)
            with context.target.write(work.target, count, about, work.replace) as out:
                out.write(plain)
                written = out.commit()
        else:
            count = 0
            opening = context.codec.open()
            with context.target.write(work.target, item.size, about, work.replace) as out:
                for block in _blocks(context, reading):
                    plain = opening.update(block)
                    _refuse_tree(opening)
                    meter.update(block)
                    count += len(plain)
                    out.write(plain)
                plain = opening.finalize()
                _check_name(context, opening, work.target)
                payload_id = meter.finish()
                _compare_with_manifest(work, payload_id)
                count += len(plain)
                out.write(plain)
                reading.unchanged()
                written = out.commit()
    return _line(context, work.target, item, written, payload_id, count)


def _compare_with_manifest(work: WorkItem, payload_id: str) -> None:
    """Raises `Differs` if the manifest has another container."""
    if work.line is not None and work.line.payload_id != payload_id:
        raise Differs("can be decrypted, but is not the container in the manifest")


def _verify(context: ShardContext, work: WorkItem) -> DoneLine:
    """Decrypts a container without writing it. Compares it with the line of the manifest, and with a given source."""
    digest = hashlib.sha256() if context.source is not None else None
    count = 0
    with context.target.read(Item(work.target, work.size, work.token)) as reading:
        opening = context.codec.open()
        meter = context.codec.meter()
        for block in _blocks(context, reading):
            plain = opening.update(block)
            meter.update(block)
            count += len(plain)
            if digest is not None:
                digest.update(plain)
        plain = opening.finalize()
        count += len(plain)
        if digest is not None:
            digest.update(plain)
        reading.unchanged()
        item = reading.item
    payload_id = meter.finish()
    name = plain_name(work.target)
    # First: a container of another object differs from the manifest, too.
    _check_name(context, opening, name)
    if work.line is not None and (work.line.payload_id or context.has_macs):
        _compare_with_manifest(work, payload_id)
    if context.source is not None and digest is not None:
        with context.source.read(context.source.stat(name)) as reading:
            if _digest(context, reading) != digest.digest():
                raise Differs("can be decrypted, but its plaintext differs from the source")
    return _line(context, work.target, item, item, payload_id, count)


def _digest(context: ShardContext, reading: Reading) -> bytes:
    digest = hashlib.sha256()
    for block in _blocks(context, reading):
        digest.update(block)
    reading.unchanged()
    return digest.digest()


def _rewrap(context: ShardContext, work: WorkItem, attempt: int) -> DoneLine:
    item = Item(work.target, work.size, work.token)
    if attempt > 1:
        item = context.target.stat(work.target)  # An earlier attempt may have rewrapped it, with its answer lost.
    read, written = context.target.rewrap(item, context.codec)
    before = Identity(read.size, read.token)
    # The payload of an older line stays valid if the line describes this container. One with a MAC says what must be.
    line = work.line if work.line is not None and (work.line.target == before or context.has_macs) else None
    now = Identity(written.size, written.token)
    if line is None:
        return DoneLine(work.target, "rewrap", None, now, "", 0, context.recipients)
    return DoneLine(work.target, "rewrap", line.source, now, line.payload_id, line.plain_bytes, context.recipients)


def _line(context: ShardContext, name: str, read: Item, written: Item, payload_id: str, plain_bytes: int) -> DoneLine:
    source = Identity(read.size, read.token)
    return DoneLine(
        name, context.verb, source, Identity(written.size, written.token), payload_id, plain_bytes, context.recipients
    )


def _check_name(context: ShardContext, opening: Opening, name: str) -> None:
    """Raises `Moved` if the container was made for another object."""
    if not is_name_digest(opening.name):
        context.unbound.append(name)
    elif opening.name != name_digest(name) and not context.accept_moved:
        raise Moved(
            "its container was made for an object of another name: somebody may have exchanged it; if you renamed "
            "the folder, or this is a part of it, --accept-moved (accept_moved=True) opens it"
        )


def _refuse_tree(opening: Opening | Any) -> None:
    if opening.content_type == "tree":
        raise TreeInside("the container holds a folder: open it with tress decrypt")
