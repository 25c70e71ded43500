"""S3, by single requests through the connections and credentials of `s3fs`.

Only the sessions of s3fs are used. Its file objects hold whole listings in memory, take a part of a key for a version,
and complete a failed upload. An object appears when its upload is completed. Read requests name the expected entity
tag.
"""

from __future__ import annotations

import asyncio
import errno
import math
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import fsspec
import fsspec.asyn
import s3fs

from ..codec import Codec
from ..errors import Changed, Exists, UsageError
from ..names import CONTROL, Item, UnreadableEntry, check, ignored
from ..retry import Retry, answer
from . import HEAD, Reading, Replace, Store, Writing, without_secrets

T = TypeVar("T")

PART = 8 << 20
"""Size in bytes of a part of an upload, and of a range that is read."""
LEAST_PART = 5 << 20
"""Smallest part that S3 accepts, in bytes, except for the last part."""
COPY_PART = 1 << 30
MOST_PARTS = 9500
AHEAD = 2
"""Number of parts in flight."""
CONTAINER_TYPE = "application/octet-stream"

# Retries of a single request, so that a large object does not start again for one failed request.
_WITHIN = Retry(attempts=4, throttled=8, final=(Changed,))
_NEVER = threading.Event()


class S3Store(Store):
    """A bucket, or the objects of a bucket with a key prefix."""

    def __init__(self, url: str, options: Mapping[str, Any]):
        self.bucket, _, prefix = url.partition("://")[2].partition("/")
        if not self.bucket or "@" in self.bucket:
            raise UsageError(f"{without_secrets(url)}: a URL of S3 has the form s3://BUCKET/PREFIX")
        prefix = prefix.strip("/")
        self.prefix = prefix + "/" if prefix else ""
        self.shown = f"s3://{self.bucket}/{prefix}"
        given = dict(options)
        # This package does the retries instead, so that they are counted, and throttling pauses all threads.
        config = {"retries": {"total_max_attempts": 1}, "max_pool_connections": 64} | dict(
            given.pop("config_kwargs", {})
        )
        self.fs: s3fs.S3FileSystem = fsspec.filesystem("s3", config_kwargs=config, skip_instance_cache=True, **given)
        self.fs.retries = 1

    def prepare(self) -> None:
        self.call("list_objects_v2", Prefix=self.prefix, MaxKeys=1)

    def key(self, name: str) -> str:
        """Returns the object's key. Raises `BadName`."""
        return self.prefix + check(name)

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Runs a coroutine in the thread of the event loop."""
        return asyncio.run_coroutine_threadsafe(work, self.fs.loop)

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Sends one request and waits for the reply."""
        reply: dict[str, Any] = self.start(self.fs._call_s3(method, Bucket=self.bucket, **arguments)).result()
        return reply

    def items(self) -> Iterator[Item | UnreadableEntry]:
        prefix = self.prefix
        token: str | None = None
        empty = True
        following: Future[dict[str, Any]] | None = self._page(prefix, token)
        while following is not None:
            page = _retried_result(following, partial(self._page, prefix, token), self.retry)
            token = page.get("NextContinuationToken")
            following = self._page(prefix, token) if page.get("IsTruncated") and token else None
            for entry in page.get("Contents", ()):
                empty = False
                name = entry["Key"][len(self.prefix) :]
                size = int(entry["Size"])
                if not name or (name.endswith("/") and size == 0):
                    continue  # A folder marker.
                if not ignored(name):
                    yield Item(name, size, entry["ETag"])
        if empty and prefix:  # A bucket may be empty, but a prefix without objects does not exist.
            raise FileNotFoundError(errno.ENOENT, "no object has this prefix", self.shown)

    def _page(self, prefix: str, token: str | None) -> Future[dict[str, Any]]:
        more = {"ContinuationToken": token} if token else {}
        return self.start(self.fs._call_s3("list_objects_v2", Bucket=self.bucket, Prefix=prefix, **more))

    def stat(self, name: str) -> Item:
        reply = self.call("head_object", Key=self.key(name))
        return Item(name, int(reply["ContentLength"]), reply["ETag"])

    def get_range(
        self, name: str, token: str | None, start: int, end: int | None
    ) -> Future[tuple[bytes, dict[str, Any]]]:
        """Reads the bytes from `start` to before `end` of the version `token`. Returns them with the reply."""
        return self.start(self._get_range(name, token, start, end))

    async def _get_range(
        self, name: str, token: str | None, start: int, end: int | None
    ) -> tuple[bytes, dict[str, Any]]:
        arguments: dict[str, Any] = {"IfMatch": token} if token else {}
        if end is not None:
            arguments["Range"] = f"bytes={start}-{end - 1}"
        try:
            reply = await self.fs._call_s3("get_object", Bucket=self.bucket, Key=self.key(name), **arguments)
        except OSError as error:
            if answer(error)[1] in (412, 416):
                raise Changed("modified since it was listed") from None
            raise
        if token and reply["ETag"] != token:  # The store ignores the condition IfMatch.
            reply["Body"].close()
            raise Changed("modified since it was listed")
        async with reply["Body"] as body:
            data: bytes = await body.read()
        if len(data) != (reply["ContentLength"] if end is None else end - start):
            raise ConnectionError("the response of the store ended early")
        return data, reply

    def read(self, item: Item) -> Reading:
        return _S3Reading(self, item)

    def read_start(self, item: Item, count: int) -> bytes:
        if item.size == 0:
            return b""
        return self.get_range(item.name, item.token, 0, min(count, item.size)).result()[0]

    def write(self, name: str, size: int, about: Mapping[str, str], replace: Replace) -> Writing:
        return S3Writing(self, name, size, about, replace)

    def rewrap(self, item: Item, codec: Codec) -> tuple[Item, Item]:
        """Replaces the header. The store copies the payload, except the bytes that fill up the first part."""
        old, head = codec.new_head(self.read_start(item, HEAD))
        first_end = old + max(0, LEAST_PART - len(head))
        with _S3Reading(self, item, limit=min(first_end, item.size)) as reading:
            start = b"".join(reading.blocks())
            if len(start) != min(first_end, item.size) or len(start) < old:
                raise Changed("its length changed while it was read")
            start = start[old:]
            about = reading.about
            is_large, size = first_end < item.size, item.size - old + len(head)
            with S3Writing(self, item.name, size, about, Replace.ALWAYS, is_large, item.token) as out:
                out.write(head)
                out.write(start)
                if is_large:
                    out.copy(item, first_end)
                return item, self.committed(out, item.name, head, size)

    def put(self, name: str, data: bytes) -> None:
        self.call("put_object", Key=self.key(name), Body=data, ContentType="application/jsonl")

    def get(self, name: str) -> Iterator[bytes]:
        with _S3Reading(self, self.stat(name)) as reading:
            yield from reading.blocks()

    def control(self) -> list[str]:
        names = []
        token: str | None = None
        following: Future[dict[str, Any]] | None = self._page(self.prefix + CONTROL + "/", None)
        while following is not None:
            page = following.result()
            names += [entry["Key"][len(self.prefix) :] for entry in page.get("Contents", ())]
            token = page.get("NextContinuationToken")
            following = self._page(self.prefix + CONTROL + "/", token) if page.get("IsTruncated") and token else None
        return sorted(names)

    def remove(self, name: str) -> None:
        self.call("delete_object", Key=self.key(name))

    def close(self) -> None:
        try:
            self.fs.close_session(self.fs.loop, self.fs._s3)
        except Exception:  # the connection is not needed any more
            pass


class _S3Reading(Reading):
    """Reads an object by one request, or a large object by several requests in flight."""

    def __init__(self, store: S3Store, item: Item, limit: int | None = None):
        self._store = store
        self._end = item.size if limit is None else limit
        self._whole = self._end == item.size and item.size <= PART
        self.item = item
        try:
            first, reply = self._get(0).result()
        except Changed:
            # The listing is out of date. The current version is as good, as long as it does not change again.
            self.item = store.stat(item.name)
            if limit is not None:
                raise
            self._end = self.item.size
            self._whole = self._end <= PART
            first, reply = self._get(0).result()
        self._first: bytes | None = first
        self.about = {"content-type": reply.get("ContentType", "")} | reply.get("Metadata", {})

    def _get(self, start: int) -> Future[tuple[bytes, dict[str, Any]]]:
        end = None if self._whole else min(start + PART, self._end)
        return self._store.get_range(self.item.name, self.item.token, start, end)

    def blocks(self) -> Iterator[bytes]:
        starts = iter(range(PART, self._end if not self._whole else 0, PART))
        ahead = [(start, self._get(start)) for start in islice(starts, AHEAD)]
        if self._first:
            yield self._first
        self._first = None
        while ahead:
            start, future = ahead.pop(0)
            data, _ = _retried_result(future, partial(self._get, start))
            for following in starts:
                ahead.append((following, self._get(following)))
                break
            yield data

    def unchanged(self) -> None:
        """Does nothing: every request named the version."""


class S3Writing(Writing):
    """Writes an object by one request, or a large object by a multipart upload."""

    def __init__(
        self,
        store: S3Store,
        name: str,
        size: int,
        about: Mapping[str, str],
        replace: Replace,
        multipart: bool | None = None,
        over: str = "",
    ):
        """Begins an object. With `over`, it replaces this version of the object only."""
        self._store = store
        self._name = name
        self._key = store.key(name)
        self._replace = replace
        self._part_bytes = max(PART, math.ceil(size / MOST_PARTS / PART) * PART)
        self._buffer = bytearray()
        self._size = 0
        self._upload: str | None = None
        self._tags: list[Future[dict[str, Any]]] = []
        self._numbers = 0
        own = {key: value for key, value in about.items() if key != "content-type" and _plain(value)}
        kept = about.get("content-type", "")
        self._about = {"ContentType": kept if kept and _plain(kept) else CONTAINER_TYPE, "Metadata": own}
        self._own = own
        self._condition: dict[str, str] = {} if replace is Replace.ALWAYS else {"IfNoneMatch": "*"}
        self._over = over
        if over:
            self._condition = {"IfMatch": over}
        if multipart if multipart is not None else size > 2 * PART:
            self._begin()

    def _begin(self) -> None:
        if self._replace:
            # Removes uploads of killed runs, which cost money until they are removed.
            found = self._with_retries(lambda: self._store.call("list_multipart_uploads", Prefix=self._key))
            for upload in found.get("Uploads") or ():
                if upload["Key"] == self._key:
                    self._abort(upload["UploadId"])
        reply = self._with_retries(lambda: self._store.call("create_multipart_upload", Key=self._key, **self._about))
        self._upload = reply["UploadId"]

    def _with_retries(self, work: Callable[[], T]) -> T:
        return _WITHIN.call(lambda _: work(), _NEVER)

    def write(self, data: Any) -> None:
        self._buffer += data
        if self._upload is None and len(self._buffer) > 4 * PART:
            self._begin()  # The object is larger than announced.
        while self._upload is not None and len(self._buffer) >= self._part_bytes:
            self._send(bytes(memoryview(self._buffer)[: self._part_bytes]))
            del self._buffer[: self._part_bytes]

    def _send(self, data: bytes) -> None:
        self._size += len(data)
        self._numbers += 1
        number = self._numbers

        def send() -> Future[dict[str, Any]]:
            return self._request("upload_part", PartNumber=number, Body=data)

        self._wait(send)

    def copy(self, item: Item, start: int) -> None:
        """Lets the store copy an object from offset `start` on. At least one part must have been written before."""
        if self._buffer:
            self._send(bytes(self._buffer))
            self._buffer.clear()
        step = max(COPY_PART, math.ceil((item.size - start) / MOST_PARTS))
        source = {"Bucket": self._store.bucket, "Key": self._store.key(item.name)}
        for begin in range(start, item.size, step):
            end = min(begin + step, item.size)
            self._numbers += 1
            self._size += end - begin
            arguments = {
                "PartNumber": self._numbers,
                "CopySource": source,
                "CopySourceRange": f"bytes={begin}-{end - 1}",
                "CopySourceIfMatch": item.token,
            }
            self._wait(lambda arguments=arguments: self._request("upload_part_copy", **arguments))

    def _request(self, method: str, **arguments: Any) -> Future[dict[str, Any]]:
        call = self._store.fs._call_s3
        return self._store.start(
            call(method, Bucket=self._store.bucket, Key=self._key, UploadId=self._upload, **arguments)
        )

    def _wait(self, send: Any) -> None:
        """Sends a part, and waits until at most `AHEAD` other parts are in flight."""
        self._tags.append(_RetriedRequest(send))
        behind = len(self._tags) - 1 - AHEAD
        if behind >= 0:
            self._tags[behind].result()

    def commit(self) -> Item:
        if self._upload is not None and self._buffer:
            self._send(bytes(self._buffer))
            self._buffer.clear()
        try:
            reply = self._finish()
        except OSError as error:
            status = answer(error)[1]
            self._condition = {}
            if self._over and status in (412, 501):
                if self._store.stat(self._name).token != self._over:
                    raise Changed("modified while it was copied") from None
                if status == 412:  # Ceph compares the tag without its quotes. Others may have no conditions (501).
                    self._condition = {"IfMatch": self._over.strip('"')}
            elif status != 412:
                raise
            elif self._replace is Replace.ALWAYS:
                raise Changed("modified while it was copied") from None
            elif not self._ours():
                raise Exists from None
            reply = self._finish()
        self._upload = None
        return Item(self._name, self._size, reply["ETag"])

    def _finish(self) -> dict[str, Any]:
        """Sends the request that makes the object appear."""
        if self._upload is None:
            body = bytes(self._buffer)
            self._size = len(body)
            return self._store.call("put_object", Key=self._key, Body=body, **self._about, **self._condition)
        replies = [tag.result() for tag in self._tags]
        parts = [
            {"PartNumber": number, "ETag": reply.get("CopyPartResult", reply)["ETag"]}
            for number, reply in enumerate(replies, 1)
        ]
        return self._with_retries(
            lambda: self._request(
                "complete_multipart_upload", MultipartUpload={"Parts": parts}, **self._condition
            ).result()
        )

    def _ours(self) -> bool:
        """Returns whether the existing object comes from this run (its answer was lost), or from one that began it."""
        run = self._own.get("tress-run")
        there = self._store.call("head_object", Key=self._key).get("Metadata", {}).get("tress-run")
        return there is not None and (there == run or self._replace is Replace.OURS)

    def discard(self) -> None:
        if self._upload is None:
            return
        for tag in self._tags:
            tag.cancel()
        try:
            self._abort(self._upload)
        except Exception:  # the next run removes it
            pass
        self._upload = None

    def _abort(self, upload: str) -> None:
        try:
            self._store.call("abort_multipart_upload", Key=self._key, UploadId=upload)
        except FileNotFoundError:
            pass


def _plain(value: str) -> bool:
    """Returns whether a value is valid in an HTTP header."""
    return value.isascii() and value.isprintable() and len(value) < 512


def _retried_result(future: Future[T], again: Any, retry: Retry = _WITHIN) -> T:
    """Returns the result of a request. Repeats the request if it fails."""

    def attempt(number: int) -> T:
        result: T = (future if number == 1 else again()).result()
        return result

    return retry.call(attempt, _NEVER)


class _RetriedRequest(Future[dict[str, Any]]):
    """A request in flight. `result` repeats it if it failed."""

    def __init__(self, send: Any):
        super().__init__()
        self._send = send
        self._begun: Future[dict[str, Any]] = send()
        self._reply: dict[str, Any] | None = None

    def result(self, timeout: float | None = None) -> dict[str, Any]:
        if self._reply is None:
            self._reply = _retried_result(self._begun, self._send)
            self._send = None  # Frees the bytes of the part.
        return self._reply

    def cancel(self) -> bool:
        return self._begun.cancel()
