"""Encrypts, decrypts, verifies and rewraps datasets of many objects, on one machine or several.

    import tress_dataset

    tress_dataset.encrypt("photos", "s3://bucket/photos", "age1…")
    tress_dataset.verify("s3://bucket/photos", Path("key.txt"))
    tress_dataset.decrypt("s3://bucket/photos", "restored", Path("key.txt"))

Sources and targets are paths or URLs that fsspec opens. The work runs in processes of this machine, or in any
`concurrent.futures.Executor`. A second call processes only objects that are missing or have changed.
docs/reference/datasets.md is the manual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike, fsdecode
from os.path import realpath
from typing import Any

from . import keys as _keys
from .codec import Codec, TressCodec
from .errors import DatasetError, Failure, Incomplete, UsageError
from .keys import RunKeys, Secret
from .names import Part, Selection
from .pool import Pool
from .progress import Progress, Terminal
from .retry import Retry
from .run import RunSettings, new_run, perform, with_concurrency
from .seal import ManifestKey
from .shards import Grouping
from .stores import Store, open_store
from .summary import Summary
from .worker import RunPlan, StoreOptions

__all__ = [
    "DatasetError",
    "Failure",
    "Grouping",
    "Incomplete",
    "Progress",
    "Retry",
    "Secret",
    "Summary",
    "Terminal",
    "UsageError",
    "decrypt",
    "encrypt",
    "rewrap",
    "verify",
]

Address = str | bytes | PathLike[str] | PathLike[bytes]


def encrypt(
    source: Address,
    target: Address,
    recipients: Any,
    *,
    aead: str = "aes-128-ccm",
    ignore_ctime: bool = False,
    source_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> Summary:
    """Encrypts every object of `source` to NAME.tress in `target`, unless an up-to-date container is there.

    Existing containers stay, also if they were encrypted to other recipients: use `rewrap` to change those.

    `recipients`: text such as `age1…`, or a sequence; also `Secret` for a passphrase (slow: about a second per object)
    or a raw key. `ignore_ctime`: a local file that `chmod`, `mv` or `ln` touched, without another size or time of
    modification, is not encrypted again. `source_options` and `target_options` are passed to fsspec.

    Keywords of all commands: `executor`, `workers`, `concurrency` (number of objects that a worker processes at the
    same time), `part` (`"3/100"`: only the objects of part 3 of 100; the hash of a name selects its part), `include`
    and `exclude` (a pattern or a sequence: only names that match one of the former, and none of the latter; `*` also
    matches `/`), `grouping`, `retry`, `force` (process all objects and replace existing ones), `dry_run` (write
    nothing; True, or a function that takes the name and size of each object that would be processed), `progress` (True,
    or a function that takes a `Progress`), `warn` (a function that takes a text), `failed_list` (a path), `check`
    (False: return the summary even if objects failed), `manifest_key` (a `Secret` with a raw key, for MACs in the
    manifest next to the containers).

    Raises `Incomplete` if objects failed, `UsageError` for wrong arguments, and `OSError` or an exception of the store
    if a store cannot be used at all.
    """
    public, secret = _keys.recipients(recipients)
    if not public and not secret:
        raise UsageError("no recipient given")
    keys = RunKeys(recipients=public, to=secret)
    keywords["_ignore_ctime"] = ignore_ctime
    return _run("encrypt", source, target, keys, aead, source_options, target_options, keywords)


def decrypt(
    source: Address,
    target: Address,
    identities: Any,
    *,
    accept_moved: bool = False,
    source_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> Summary:
    """Decrypts every container NAME.tress of `source` to NAME in `target`, unless an up-to-date object is there.

    A container records the name of its object. A container under another name is a failure of kind `moved`, because two
    containers may have been exchanged. `accept_moved` accepts it, for example if a folder was renamed, or if only a
    part of a dataset is decrypted.

    `identities`: the text of an identity file, a `Path` to one, or a sequence; also `Secret`. Keywords as for
    `encrypt`.
    """
    keys = _identity_keys(identities)
    keywords["_accept_moved"] = accept_moved
    return _run("decrypt", source, target, keys, "aes-128-ccm", source_options, target_options, keywords)


def verify(
    target: Address,
    identities: Any,
    *,
    against: Address | None = "manifest",
    accept_moved: bool = False,
    target_options: Mapping[str, Any] | None = None,
    source_options: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> Summary:
    """Decrypts every container of `target` without writing anything.

    By default compares with the manifest in `target`: every object of the manifest exists, and its container is the one
    that was written. With the address of the source as `against`, compares with the source, byte for byte. `None`
    compares with nothing. A missing, extra, damaged or different object is a failure of that `kind`; `moved` is as for
    `decrypt`.

    An empty target without a manifest has no failures, also if its name is a mistake: check `summary.objects`, or
    compare with the source.
    """
    keys = _identity_keys(identities)
    source = None if against is None or against == "manifest" else against
    keywords["_to_manifest"] = against == "manifest"
    keywords["_accept_moved"] = accept_moved
    return _run("verify", source, target, keys, "aes-128-ccm", source_options, target_options, keywords)


def rewrap(
    target: Address,
    identities: Any,
    recipients: Any,
    *,
    target_options: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> Summary:
    """Replaces the recipients of every container of `target`. Payloads are not decrypted.

    This does not revoke access: a former recipient may have kept the payload key. Keywords as for `encrypt`.
    """
    public, secret = _keys.recipients(recipients)
    if not public and not secret:
        raise UsageError("no recipient given")
    texts, opens = _keys.identities(identities)
    if not texts and not opens:
        raise UsageError("no identity given")
    keys = RunKeys(public, secret, texts, opens)
    return _run("rewrap", None, target, keys, "aes-128-ccm", None, target_options, keywords)


def _identity_keys(identities: Any) -> RunKeys:
    texts, secrets = _keys.identities(identities)
    if not texts and not secrets:
        raise UsageError("no identity given")
    return RunKeys(_identities=texts, opens=secrets)


def _run(
    verb: str,
    source: Address | None,
    target: Address,
    keys: RunKeys,
    aead: str,
    source_options: Mapping[str, Any] | None,
    target_options: Mapping[str, Any] | None,
    keywords: dict[str, Any],
) -> Summary:
    """Checks the arguments, makes a plan of them, and runs it."""
    executor: Executor | None = keywords.pop("executor", None)
    workers: int | None = keywords.pop("workers", None)
    concurrency: int | None = keywords.pop("concurrency", None)
    part = keywords.pop("part", None)
    include, exclude = (_patterns(name, keywords.pop(name, None)) for name in ("include", "exclude"))
    progress: bool | Callable[[Progress], None] | None = keywords.pop("progress", None)
    check: bool = keywords.pop("check", True)
    manifest_key: Secret | None = keywords.pop("manifest_key", None)
    codec: Codec | None = keywords.pop("_codec", None)
    for name, value, types in (
        ("part", part, (str, Part)),
        ("executor", executor, Executor),
        ("grouping", keywords.get("grouping"), Grouping),
        ("retry", keywords.get("retry"), Retry),
        ("manifest_key", manifest_key, Secret),
        ("workers", workers, int),
        ("concurrency", concurrency, int),
    ):
        if value is not None and not isinstance(value, types):
            raise TypeError(f"{name} cannot be of type {type(value).__name__}")
    for name, value in (("progress", progress), *((name, keywords.get(name)) for name in ("warn", "dry_run"))):
        if value is not None and not isinstance(value, bool) and not callable(value):
            raise TypeError(f"{name} must be a function, not {type(value).__name__}")
    settings = RunSettings(
        selection=Selection(Part.parse(part) if isinstance(part, str) else part, include, exclude),
        force=keywords.pop("force", False),
        ignore_ctime=keywords.pop("_ignore_ctime", False),
        dry_run=keywords.pop("dry_run", False),
        grouping=keywords.pop("grouping", None) or Grouping(),
        progress=Terminal() if progress is True else progress or None,
        warn=keywords.pop("warn", None),
        failed_path=keywords.pop("failed_list", None),
        to_manifest=keywords.pop("_to_manifest", True),
    )
    retry: Retry = keywords.pop("retry", None) or Retry()
    opener = keywords.pop("_opener", open_store)
    accept_moved: bool = keywords.pop("_accept_moved", False)
    if manifest_key is not None and verb == "verify" and not settings.to_manifest:
        raise UsageError("a manifest key compares with the manifest, not with a source")
    if keywords:
        raise TypeError(f"unexpected arguments: {', '.join(sorted(keywords))}")
    if aead not in ("aes-128-ccm", "aes-256-ccm"):
        raise UsageError(f"unknown AEAD {aead!r}: use aes-128-ccm or aes-256-ccm")
    if workers is not None and workers < 1:
        raise UsageError("the number of workers must be at least 1")
    if concurrency is not None and concurrency < 1:
        raise UsageError("concurrency must be at least 1")
    plan = RunPlan(
        verb,
        new_run(),
        None if source is None else fsdecode(source),
        fsdecode(target),
        StoreOptions(source_options),
        StoreOptions(target_options),
        codec or TressCodec(keys, aead),
        keys.recipients_id() if keys.recipients or keys.to else None,
        1,
        retry,
        accept_moved,
        opener,
        None if manifest_key is None else ManifestKey(manifest_key),
    )
    _refuse_nested_target(plan)
    plan = with_concurrency(plan, concurrency, keys.slow)
    if executor is None:
        for url, options in ((plan.source, plan.source_options), (plan.target, plan.target_options)):
            if url and url.startswith("memory:") and not plan.opener(url, options.values).shared:
                raise UsageError("memory: stores are not shared between processes; use an executor of threads")
    summary = perform(plan, settings, lambda: Pool(executor, workers))
    if isinstance(settings.progress, Terminal):
        settings.progress.clear()
    if check and not summary.ok:
        raise Incomplete(summary)
    return summary


def _patterns(name: str, given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Returns the patterns of an argument, which may be one text."""
    several = (given,) if isinstance(given, str) else tuple(given or ())
    if not all(isinstance(pattern, str) for pattern in several):
        raise TypeError(f"{name} must be text, or a sequence of texts")
    if "" in several:
        raise UsageError(f"a pattern of {name} is empty")
    return several


def _refuse_nested_target(plan: RunPlan) -> None:
    """Refuses a target inside its source: the listing would find the new objects."""
    if plan.source is None or plan.verb == "verify":
        return
    source = plan.opener(plan.source, plan.source_options.values)
    target = plan.opener(plan.target, plan.target_options.values)
    inner, outer = map(_location, (target, source))
    if plan.verb in ("encrypt", "decrypt") and (inner == outer or inner.startswith(outer.rstrip("/") + "/")):
        raise UsageError("the target is inside the source")


def _location(store: Store) -> str:
    """Returns the location of a store, with symbolic links resolved."""
    root: str | None = getattr(store, "root", None)
    return store.location if root is None else realpath(root)
