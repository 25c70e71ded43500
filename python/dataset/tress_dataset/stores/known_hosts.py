"""Host keys of SSH servers: only those in the user's known_hosts are accepted, as by `ssh`.

fsspec's default accepts any host key.
"""

from __future__ import annotations

import os
from typing import Any


def policy() -> Any:
    """Returns a `host_key_policy` for fsspec's SFTP file system."""
    import paramiko

    class KnownHosts(paramiko.MissingHostKeyPolicy):  # type: ignore[misc]
        """Accepts only the keys that known_hosts has for the host."""

        def missing_host_key(self, client: Any, hostname: str, key: Any) -> None:
            known = paramiko.HostKeys()
            for path in ("/etc/ssh/ssh_known_hosts", os.path.expanduser("~/.ssh/known_hosts")):
                if os.path.exists(path):
                    known.load(path)
            if not known.check(hostname, key):
                raise PermissionError(f"the host key of {hostname} is not in known_hosts")

    return KnownHosts()
