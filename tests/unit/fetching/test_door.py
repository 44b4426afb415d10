import pickle
import ssl

import pytest

from tidings.fetching.door import OutboundDoor
from tidings.fetching.guard import Guard


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "::1", "169.254.169.254", "93.184.216.34", "::ffff:127.0.0.1", "example.org"]
)
@pytest.mark.parametrize("networks", [(), ("127.0.0.0/8",)])
def test_mail_is_judged_as_pages_are(address, networks):
    """There is one judgement; what is lent says the same."""
    assert Guard(networks).fault(address) == OutboundDoor(networks).fault(address)


def test_a_name_is_no_address():
    """Who dials names is refused."""
    assert OutboundDoor(("0.0.0.0/0",)).fault("localhost")


def test_what_is_lent_can_be_sent_to_a_process():
    """The judgement and the maker of contexts survive the way."""
    door = OutboundDoor(("127.0.0.0/8",))
    fault, tls = pickle.loads(pickle.dumps((door.fault, door.tls)))

    assert "" == fault("127.0.0.1")
    assert fault("10.0.0.1")
    assert isinstance(tls(), ssl.SSLContext)


def test_a_context_verifies():
    """Certificates and names of hosts are checked."""
    context = OutboundDoor().tls()

    assert (ssl.CERT_REQUIRED, True) == (context.verify_mode, context.check_hostname)
