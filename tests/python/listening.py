"""Commands of pages that start a receiver and then sleep."""

import re

RECEIVER = re.compile(r"(--listen \S+:(\d+) .*&\s)sleep 1\n")


def when_it_listens(script: str) -> str:
    """Replaces each second of sleep by waiting until the receiver listens or has ended."""

    def waits(found: re.Match[str]) -> str:
        listens = f'grep -q ":{int(found[2]):04X} [0-9A-F]*:0000 0A" /proc/net/tcp'
        return f"{found[1]}until {listens}; do kill -0 $!; sleep 0.1; done\n"

    return RECEIVER.sub(waits, script)
