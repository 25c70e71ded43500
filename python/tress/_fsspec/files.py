"""The file system `tress`, which encrypts the files of another one."""

from __future__ import annotations

import errno
import io
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

import fsspec
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.compression import compr
from fsspec.core import get_compression
from fsspec.implementations.chained import ChainedFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.spec import make_instance
from fsspec.utils import stringify_path

from .._errors import TressError, Usage
from .._files import _Path
from .keys import Keys
from .reading import BLOCK, FETCH, OF_PROCESS, Plain, TressFile, Version, keep, version
from .writing import ONE_THREAD, Over, Writer, check_new, protocol

T = TypeVar("T")
R = TypeVar("R")

# Number of files whose keys and blocks are kept after use, and of sizes.
_FILES, _SIZES = 32, 100_000
# Number of files that are read at the same time.
_THREADS = 8
# Options of fsspec itself.
_OPTIONS = {"use_listings_cache", "listings_expiry_time", "max_paths", "asynchronous", "loop", "batch_size"}
# Parameters of delegated methods that are paths.
_PATHS = {"path", "path1", "path2"}


def _delegated(name: str) -> Any:
    """Returns a method that the other file system has for names and for encrypted files as they are."""

    def method(self: TressFileSystem, *arguments: Any, **options: Any) -> Any:
        stripped = [self._stripped(one) if isinstance(one, str | list | os.PathLike) else one for one in arguments]
        paths = {option: self._stripped(options[option]) for option in _PATHS & options.keys()}
        return getattr(self.fs, name)(*stripped, **options | paths)

    method.__name__, method.__doc__ = name, f"Calls `{name}` of the other file system."
    return method


class _CurrentFolder:
    """The current folder, as a part of the token of an instance: its key files may have relative paths."""

    def __get__(self, *_: object) -> str | None:
        with suppress(OSError):  # A removed folder has no relative paths.
            return os.getcwd()
        return None


class TressFileSystem(ChainedFileSystem):  # type: ignore[misc]
    """The files of another file system, encrypted: `tress::s3://bucket/x.parquet`, `tress::/data/x.zarr`.

    `identity`, `recipients` and `key_file` name files of keys, one or several. Without them, the environment variables
    `TRESS_IDENTITY` and `TRESS_RECIPIENTS` do. A `key_file` has a raw key of 16 or 32 bytes. `format` is the format of
    new files. With `cobblestone-128` and `cobblestone-256` it is that of all files, and `context` is theirs, as text.
    """

    protocol = "tress"
    _strip_tokenize_options = ("fo",)
    _extra_tokenize_attributes = ("_current_folder",)
    _current_folder = _CurrentFolder()

    def __init__(
        self,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        fs: Any = None,
        fo: str = "",
        identity: Any = None,
        recipients: Any = None,
        key_file: Any = None,
        format: str = "tress",
        context: str = "",
        **options: Any,
    ) -> None:
        """Wraps `fs`, or the file system that the target options describe. URLs in a chain give `fo`."""
        super().__init__(**options)
        if unknown := options.keys() - _OPTIONS:
            names = ", ".join(sorted(unknown))
            raise Usage(f"unknown storage options: {names}; give those of the store as s3={{...}}", "usage")
        self.keys = Keys(identity, recipients, key_file, format, context)
        self.fs = fsspec.filesystem(target_protocol or "file", **(target_options or {})) if fs is None else fs
        self.root_marker = self.fs.root_marker
        # The method of the class removes only this protocol.
        self._strip_protocol: Callable[[Any], Any] = self._stripped
        self.start_process()
        OF_PROCESS[id(self)] = self

    def start_process(self) -> None:
        """Begins without open files."""
        # The collection of a file that nobody closed may complete it, and so call `invalidate_cache` anywhere.
        self._lock = threading.RLock()
        self._files: dict[str, Plain] = {}
        self._sizes: dict[str, tuple[Version, int]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Supports `pickle`: the other process reads the key files, by their absolute paths."""
        return make_instance, (type(self), self.storage_args, {**self.storage_options, **self.keys.options})

    def _stripped(self, path: Any) -> Any:
        if isinstance(path, list):
            return [self._stripped(one) for one in path]
        path = stringify_path(path)
        return self.fs._strip_protocol(path.removeprefix("tress::").removeprefix("tress://"))

    exists, isfile, isdir = map(_delegated, ("exists", "isfile", "isdir"))
    created, modified, ukey, _parent = map(_delegated, ("created", "modified", "ukey", "_parent"))
    mkdir, makedirs, rmdir = map(_delegated, ("mkdir", "makedirs", "rmdir"))
    rm_file, rm, cp_file, mv = map(_delegated, ("rm_file", "rm", "cp_file", "mv"))

    def ls(self, path: str, detail: bool = True, sizes: bool = False, **kwargs: Any) -> list[Any]:
        """Lists a folder. A `size` that is not known yet is `None`, unless `sizes` requests opening the files."""
        entries = self.fs.ls(self._stripped(path), detail=True, **kwargs)
        return self._listed(entries, sizes) if detail else [entry["name"] for entry in entries]

    def find(self, path: str, *args: Any, detail: bool = False, sizes: bool = False, **kwargs: Any) -> Any:
        """Lists all files below a folder. For sizes see `ls`."""
        found = self.fs.find(self._stripped(path), *args, detail=detail, **kwargs)
        return dict(zip(found, self._listed(found.values(), sizes), strict=True)) if detail else found

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """Describes a folder, or a file with the size of its plaintext."""
        return self._listed([self.fs.info(self._stripped(path), **kwargs)], True)[0]

    def _listed(self, entries: Iterable[dict[str, Any]], sizes: bool) -> list[dict[str, Any]]:
        """Replaces the sizes of encrypted files. The store's own `Size`, which S3 has, is left out."""

        def listed(entry: dict[str, Any]) -> dict[str, Any]:
            if entry.get("type") != "file":
                return entry
            known, size = self._sizes.get(entry["name"], (None, None))
            if known is None or known != version(entry):
                size = self._size(entry["name"], entry) if sizes else None
            kept = {name: value for name, value in entry.items() if name != "Size"}
            return kept | {"size": size, "encrypted_size": entry.get("size")}

        return self._map(listed, entries) if sizes else list(map(listed, entries))

    def invalidate_cache(self, path: str | None = None) -> None:
        """Forgets listings, and an open file."""
        stripped = None if path is None else self._stripped(path)
        with self._lock:
            for known in list(self._files) if stripped is None else [stripped]:
                self._files.pop(known, None)
        for one in (stripped,) if stripped is None else (stripped, self.fs._parent(stripped)):
            self.fs.invalidate_cache(one)
        super().invalidate_cache(path)

    def version_now(self, path: str) -> Version | None:
        """Asks the store for the version of an object that may have changed."""
        self.invalidate_cache(path)
        with suppress(Exception):  # The error that led here counts.
            return version(self.fs.info(path))
        return None

    def _plain(self, path: str, info: dict[str, Any] | None = None) -> Plain:
        """Opens an object. Its plaintext is shared while the store reports the same version."""
        info = self.fs.info(path) if info is None else info
        if info["type"] == "directory":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        with self._lock:
            plain = self._files.pop(path, None)
        if plain is None or plain.version != version(info):
            plain = Plain(self, path, info)
        if plain.version is not None:
            with self._lock:
                keep(self._files, path, plain, _FILES)
                keep(self._sizes, path, (plain.version, plain.size), _SIZES)
        return plain

    def _size(self, path: str, info: dict[str, Any]) -> int:
        """Opens an object to find the size of its plaintext."""
        plain = self._plain(path, info)
        plain.use(0)
        return plain.size

    def _map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Calls a function for several files at the same time, if the store permits it."""
        several = list(items)
        if len(several) < 2 or protocol(self.fs) in ONE_THREAD:
            return list(map(function, several))
        with ThreadPoolExecutor(min(len(several), _THREADS)) as pool:
            return list(pool.map(function, several))

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        """Reads a range, which is as in a slice of bytes."""
        plain = self._plain(self._stripped(path))
        first, last, _ = slice(start, end).indices(plain.size)
        if last - first > FETCH:
            with TressFile(plain, self, path) as file:
                file.seek(first)
                return file.read(last - first)
        try:
            if last - first <= BLOCK:
                return plain.part(first, last - first)
            # In one piece, it needs neither a buffer to fill nor threads.
            return plain.read_ranges([(first, last)], 0)[0]
        finally:
            plain.use(0)

    def cat_ranges(
        self, paths: Any, starts: Any, ends: Any, max_gap: int | None = None, on_error: str = "return", **kwargs: Any
    ) -> list[Any]:
        """Reads many ranges. Chunks of a file that are up to `max_gap` bytes apart, or a chunk, become one request."""
        if not isinstance(paths, list):
            raise TypeError("paths must be a list")
        starts, ends = (one if isinstance(one, list) else [one] * len(paths) for one in (starts, ends))
        of_file: dict[str, list[tuple[int, slice]]] = {}
        for number, (path, start, end) in enumerate(zip(paths, starts, ends, strict=True)):
            of_file.setdefault(self._stripped(path), []).append((number, slice(start, end)))
        results: list[Any] = [None] * len(paths)

        def read(path: str) -> None:
            plain = None
            try:
                plain = self._plain(path)
                plain.use(1)
                ranges = sorted((*one.indices(plain.size)[:2], number) for number, one in of_file[path])
                several = [(start, end) for start, end, _ in ranges]
                try:
                    found: list[Any] = [*plain.read_ranges(several, BLOCK if max_gap is None else max_gap)]
                except TressError:  # One range may be damaged, and others not.
                    if on_error != "return":
                        raise
                    found = [_one_range(plain, *one) for one in several]
                for (_, _, number), data in zip(ranges, found, strict=True):
                    results[number] = data
            except Exception as error:
                if on_error != "return":
                    raise
                for number, _ in of_file[path]:
                    results[number] = error
            finally:
                if plain is not None:
                    plain.use(-1)

        self._map(read, of_file)
        return results

    def get_file(
        self, rpath: str, lpath: Any = None, callback: Any = DEFAULT_CALLBACK, outfile: Any = None, **kwargs: Any
    ) -> None:
        """Decrypts a file into a local one, which appears when it is complete."""
        is_path = outfile is None and isinstance(lpath, str | os.PathLike)
        if not is_path or (os.path.exists(lpath) and not os.path.isfile(lpath)) or self.isdir(rpath):
            super().get_file(rpath, lpath, callback=callback, outfile=outfile, **kwargs)
            return
        os.makedirs(os.path.dirname(os.path.abspath(lpath)), exist_ok=True)
        output = _Path(os.fspath(lpath), force=True)
        try:
            with self.open(rpath, "rb", **kwargs) as plain:
                callback.set_size(getattr(plain, "size", None))
                while block := plain.read(self.blocksize):
                    output.write(block)
                    callback.relative_update(len(block))
            output.commit()
        except BaseException:
            output.discard()
            raise

    def open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        cache_options: dict[str, Any] | None = None,
        compression: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Opens a file. A new one with text or compression over it is complete, or discarded, when they end."""
        if "r" in mode or ("b" in mode and compression is None):
            return super().open(path, mode, block_size, cache_options, compression, **kwargs)
        compression = get_compression(self._stripped(path), compression)
        text = {name: kwargs.pop(name) for name in ("encoding", "errors", "newline") if name in kwargs}
        binary = mode.replace("t", "").replace("b", "") + "b"
        over = below = super().open(path, binary, block_size, cache_options, **kwargs)
        if compression is not None:
            over = compr[compression](over, mode=binary[0])
        if "b" not in mode:
            over = io.TextIOWrapper(over, **text)
        return below if over is below else Over(over, below, mode)

    def _open(self, path: str, mode: str = "rb", autocommit: bool = True, **kwargs: Any) -> Any:
        if mode == "rb":
            return TressFile(self._plain(path), self, path)
        if mode not in ("wb", "xb"):
            raise io.UnsupportedOperation(f"{path}: an encrypted file cannot be appended to or changed: write it anew")
        if mode == "xb":
            check_new(self.fs, path)
        if isinstance(self.fs, LocalFileSystem):  # Stores need no folders, and fsspec.open makes them, too.
            self.fs.makedirs(self.fs._parent(path), exist_ok=True)
        return Writer(self, path, mode == "xb", autocommit)


def _one_range(plain: Plain, start: int, end: int) -> bytes | Exception:
    try:
        return plain.read_ranges([(start, end)], 0)[0]
    except Exception as error:
        return error
