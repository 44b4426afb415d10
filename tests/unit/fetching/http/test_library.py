"""The library is imported without certificates; they are read when they are needed."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme

from tests.fakes import Page, WebServer
from tests.unit.fetching.asking import ask, tls_pair
from tidings.fetching.http.library import without_certificates
from tidings.model.observed.outcome import Failed


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """Make an authority that this machine trusts, and no other."""
    made = trustme.CA()
    made.cert_pem.write_to_path(tmp_path / "authorities.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authorities.pem"))
    return made


def test_contexts_made_meanwhile_trust_nobody(authority):
    """The library's own could ask nobody; what is made later trusts whom the machine trusts."""
    with without_certificates():
        meanwhile = ssl.create_default_context()
    later = ssl.create_default_context()

    assert (0, 1) == (meanwhile.cert_store_stats()["x509"], later.cert_store_stats()["x509"])
    assert (ssl.CERT_REQUIRED, True) == (meanwhile.verify_mode, meanwhile.check_hostname)


def test_the_authorities_of_the_machine_are_asked(authority):
    """Without a context of its own the client trusts whom the machine trusts, and nobody else."""
    outcomes = []
    for signer in (authority, trustme.CA()):
        with WebServer(tls=tls_pair(signer)[0]) as server:
            server.pages["/"] = Page(b"x")
            outcomes += ask(server.url())

    assert [False, True] == [isinstance(outcome, Failed) for outcome in outcomes]
    assert "unable to get local issuer" in outcomes[1].reason
