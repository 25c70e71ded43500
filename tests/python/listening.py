"""Commands of pages that start a receiver and then sleep."""

import re
import socket

RECEIVER = re.compile(r"(--listen \S+:(\d+) .*&\s)sleep 1\n")


def with_free_ports(script: str) -> str:
    """Replaces each port of a receiver: pages run beside each other, and a port may be in use."""
    for port in {found[2] for found in RECEIVER.finditer(script)}:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            script = script.replace(f":{port}", f":{free.getsockname()[1]}")
    return script


def when_it_listens(script: str) -> str:
    """Replaces each second of sleep by waiting until the receiver listens or has ended. Receivers get free ports."""

    def waits(found: re.Match[str]) -> str:
        listens = f'grep -q ":{int(found[2]):04X} [0-9A-F]*:0000 0A" /proc/net/tcp'
        return f"{found[1]}until {listens}; do kill -0 $!; sleep 0.1; done\n"

    return RECEIVER.sub(waits, with_free_ports(script))
