"""All Python tests: signals as in a shell's foreground."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Resets the signals that a script ignores for its background jobs (`make test-python &`): children inherit that."""
    for number in (signal.SIGINT, getattr(signal, "SIGQUIT", signal.SIGINT)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
