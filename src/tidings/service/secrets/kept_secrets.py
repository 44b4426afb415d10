"""What `doctor` says of the secrets that are kept: the key file, each secret that does not open,
receivers whose address is not set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.errors import SecretError
from tidings.model.watch.telling import secret_of
from tidings.service.show.finding import Finding, fail, ok, shorten, warn
from tidings.storage.secrets import secrets
from tidings.storage.watches import endpoints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidings.storage.db.connection import Connection
    from tidings.storage.secrets.vault import Vault


def findings(c: Connection, vault: Vault) -> Iterator[Finding]:
    """Yield what `doctor` says: the key file's rights, keys that are left over, each secret that does not open."""
    rows = [row for row in secrets.listing(c) if row.kind != "session"]  # one that is lost is made anew
    path = vault.key_file.path
    try:
        keys = vault.key_file.keys()
    except SecretError as error:
        yield fail("secrets", str(error), f"ls -l {path}")
        return
    if keys and not vault.key_file.is_private():
        yield fail("secrets", f"{path} can be read by others than its owner", f"chmod 600 {path}")
    faults = [fail("secret", fault, f"tidings secret set {row.name}") for row in rows if (fault := vault.fault(row))]
    yield from shorten(faults, mend="tidings secret list")
    missing = _missing_receivers(c, {row.name for row in rows})
    yield from shorten(missing, mend="tidings secret list")
    if plain := [row.name for row in rows if not row.key_id]:
        yield warn("secrets", f"not encrypted yet: {', '.join(plain)}", "tidings secret rotate")
    if len(keys) > 1 and not faults:
        yield warn("secrets", f"{path} has {len(keys)} keys: a rotation was cut off", "tidings secret rotate")
    if not faults and not missing:
        yield ok("secrets", f"{len(rows)} kept, each opens" if rows else "none kept")


def _missing_receivers(c: Connection, known: set[str]) -> list[Finding]:
    """Return what is said of each receiver that living sentinels notify and whose address is a secret that is not set."""
    named = {secret_of(row.address) for row in endpoints.listing(c)} - known - {None}
    if not named:
        return []
    from tidings.service.secrets.secrets import users  # it brings the parsers of cookies and addresses

    using = users(c)
    return [
        fail(
            "secret",
            f"the secret {name} is not set: news for {', '.join(using[name])} waits",
            f"tidings secret set {name}",
        )
        for name in sorted(using.keys() & named)
    ]
