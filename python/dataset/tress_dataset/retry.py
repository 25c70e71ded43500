"""Decides which failures to retry, and when.

A failed attempt is repeated after a pause that doubles each time, with jitter so that workers do not retry at the same
time. When a store throttles requests, all threads of the process pause.
"""

from __future__ import annotations

import errno
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from .errors import Busy, Changed, ObjectError, Stopped, WrongSize

T = TypeVar("T")


class ErrorClass(Enum):
    """Whether another attempt can succeed."""

    PERMANENT = "permanent"
    TRANSIENT = "transient"
    THROTTLED = "throttled"


_THROTTLED = {"SlowDown", "ServiceUnavailable", "Throttling", "ThrottlingException", "ThrottledException", "429", "503"}
_THROTTLED |= {
    "RequestLimitExceeded",
    "TooManyRequests",
    "TooManyRequestsException",
    "RequestThrottled",
    "BandwidthLimitExceeded",
}
# NoSuchUpload: another process aborted the upload; a new one may succeed. A wrong digest means damage in transit.
_TRANSIENT = {"RequestTimeout", "InternalError", "XAmzContentSHA256Mismatch", "BadDigest", "NoSuchUpload"}
_PERMANENT_ERRNO = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.EINVAL,
    errno.EFBIG,
    errno.ENOSYS,
    errno.EEXIST,
    errno.EMSGSIZE,
}
# Packages whose exceptions are network errors without being OSError. Named by module, because none must be installed.
_NETWORK = (
    "aiohttp",
    "botocore",
    "aiobotocore",
    "urllib3",
    "paramiko",
    "asyncssh",
    "requests",
    "httpx",
    "gcsfs",
    "adlfs",
    "azure",
    "google",
)
_WRONG_USE = {
    "NoCredentialsError",
    "PartialCredentialsError",
    "ParamValidationError",
    "ProfileNotFound",
    "AuthenticationException",
}
_WRONG_USE |= {"BadHostKeyException", "BadAuthenticationType", "PermissionDenied", "HostKeyNotVerifiable"}


def answer(error: BaseException) -> tuple[str, int]:
    """Returns the error code and the HTTP status of a store's answer; `""` and 0 if the error contains no answer."""
    seen: BaseException | None = error
    while seen is not None:
        response = getattr(seen, "response", None)
        if isinstance(response, dict):
            code = str(response.get("Error", {}).get("Code", ""))
            status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            return code, status if isinstance(status, int) else 0
        seen = seen.__cause__
    return "", 0


def classify(error: BaseException) -> ErrorClass:
    """Classifies an error."""
    if isinstance(error, Changed | Busy):
        return ErrorClass.TRANSIENT
    if isinstance(error, ObjectError):
        return ErrorClass.PERMANENT
    code, status = answer(error)
    if code in _THROTTLED or status in (429, 503):
        return ErrorClass.THROTTLED
    if status >= 500 or code in _TRANSIENT:
        return ErrorClass.TRANSIENT
    if status == 403 or isinstance(error, PermissionError | FileNotFoundError):
        return ErrorClass.PERMANENT
    if isinstance(error, ConnectionError | TimeoutError):
        return ErrorClass.TRANSIENT
    if isinstance(error, OSError):
        return ErrorClass.PERMANENT if error.errno in _PERMANENT_ERRNO else ErrorClass.TRANSIENT
    if isinstance(error, EOFError):
        return ErrorClass.TRANSIENT
    if type(error).__module__.partition(".")[0] in _NETWORK and type(error).__name__ not in _WRONG_USE:
        return ErrorClass.TRANSIENT
    return ErrorClass.PERMANENT


def kind(error: BaseException) -> str:
    """Returns the fixed word for a failure, for programs."""
    own = getattr(error, "kind", None)
    if isinstance(own, str):
        return own
    if isinstance(error, PermissionError) or type(error).__name__ in _WRONG_USE:
        return "denied"
    if isinstance(error, FileNotFoundError):
        return "vanished"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "space"
    if isinstance(error, OSError) and error.errno == errno.EROFS:
        return "denied"
    error_class = classify(error)
    return (
        error_class.value
        if error_class is ErrorClass.THROTTLED
        else "io"
        if error_class is ErrorClass.TRANSIENT or isinstance(error, OSError)
        else "failed"
    )


class ThrottleGate:
    """Pauses all threads of a process after a store has throttled requests."""

    def __init__(self) -> None:
        self._until = 0.0
        self._lock = threading.Lock()

    def close(self, seconds: float) -> None:
        """Closes the gate for a time in seconds."""
        with self._lock:
            self._until = max(self._until, time.monotonic() + seconds)

    def remaining(self) -> float:
        """Returns the seconds until the gate opens."""
        return max(0.0, self._until - time.monotonic())


GATE = ThrottleGate()


@dataclass(frozen=True)
class Retry:
    """Number of attempts, and pauses between them in seconds."""

    attempts: int = 8
    throttled: int = 16
    """Number of attempts if the store only throttles requests."""
    first: float = 0.25
    longest: float = 20.0
    final: tuple[type[BaseException], ...] = ()
    """Errors that are not retried here, because a caller retries them."""

    def pause(self, failures: int) -> float:
        """Returns the pause in seconds after a number of failures. It doubles each time; half of it is random."""
        full = min(self.longest, self.first * 2.0 ** min(failures - 1, 30))
        return full * (0.5 + 0.5 * random.random())

    def call(
        self, work: Callable[[int], T], stopped: threading.Event, again: Callable[[BaseException], Any] | None = None
    ) -> T:
        """Calls `work(attempt)` until it succeeds, or raises its last error if another attempt is pointless.

        The error gets an attribute `attempts`. Before each new attempt, `again` is called with the error.
        """
        patience = 0
        failures = 0
        while True:
            if stopped.wait(GATE.remaining()) if GATE.remaining() > 0 else stopped.is_set():
                raise Stopped("the run was stopped")
            try:
                return work(failures + patience + 1)
            except Exception as error:
                error_class = classify(error)
                if error_class is ErrorClass.THROTTLED:
                    patience += 1
                else:
                    failures += 1
                if (
                    error_class is ErrorClass.PERMANENT
                    or isinstance(error, self.final)
                    or failures >= (min(self.attempts, 2) if isinstance(error, WrongSize) else self.attempts)
                    or patience >= self.throttled
                ):
                    error.attempts = failures + patience  # type: ignore[attr-defined]
                    raise
                if again is not None:
                    again(error)
                pause = self.pause(patience if error_class is ErrorClass.THROTTLED else failures)
                if error_class is ErrorClass.THROTTLED:
                    GATE.close(pause)
            if stopped.wait(pause):
                raise Stopped("the run was stopped")
