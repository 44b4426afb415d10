from __future__ import annotations

import ipaddress
import pickle
import ssl

import pytest

from tidings.fetching.network_guard import Guard, HomeGuard, OutboundDoor, list_embedded, special_networks

IPV4_MAX = 2**32 - 1
IPV6_MAX = 2**128 - 1
GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
NETWORKS = [network for network, _ in special_networks()]


def is_forbidden_by_hand(address):
    """Return whether an address is forbidden, by plain arithmetic over the registries."""
    inside = any(
        network.version == address.version
        and int(network.network_address) <= int(address) <= int(network.broadcast_address)
        for network in NETWORKS
    )
    outside = address.version == 6 and not int(GLOBAL_UNICAST[0]) <= int(address) <= int(GLOBAL_UNICAST[-1])
    return inside or outside


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_blocks_are_forbidden_from_first_to_last_address(network):
    """For each block, lowest - 1, lowest, highest and highest + 1 are tested; neighbours belong to
    their own blocks.
    """
    guard = Guard()
    kind = type(network.network_address)
    largest = IPV4_MAX if network.version == 4 else IPV6_MAX
    lowest, highest = int(network.network_address), int(network.broadcast_address)
    neighbours = [kind(number) for number in (lowest - 1, highest + 1) if 0 <= number <= largest]

    assert [False, False] == [guard.allows(kind(lowest)), guard.allows(kind(highest))]
    assert [not is_forbidden_by_hand(n) for n in neighbours] == [guard.allows(n) for n in neighbours]


# Written independently of the table, from the RFCs.
EDGES = [
    ("9.255.255.255", True), ("10.0.0.0", False), ("10.255.255.255", False), ("11.0.0.0", True),
    ("100.63.255.255", True), ("100.64.0.0", False), ("100.127.255.255", False), ("100.128.0.0", True),
    ("126.255.255.255", True), ("127.0.0.0", False), ("127.255.255.255", False), ("128.0.0.0", True),
    ("169.253.255.255", True), ("169.254.169.254", False), ("169.255.0.0", True),
    ("172.15.255.255", True), ("172.16.0.0", False), ("172.31.255.255", False), ("172.32.0.0", True),
    ("191.255.255.255", True), ("192.0.0.0", False), ("192.0.0.255", False), ("192.0.1.0", True), ("192.0.2.1", False),
    ("192.167.255.255", True), ("192.168.0.0", False), ("192.168.255.255", False), ("192.169.0.0", True),
    ("198.17.255.255", True), ("198.18.0.0", False), ("198.19.255.255", False), ("198.20.0.0", True),
    ("223.255.255.255", True), ("224.0.0.0", False), ("255.255.255.255", False), ("0.0.0.0", False), ("1.0.0.0", True),
    ("::", False), ("::1", False), ("::127.0.0.1", False), ("::ffff:127.0.0.1", False), ("::ffff:8.8.8.8", False),
    ("64:ff9b::7f00:1", False), ("64:ff9b::808:808", False), ("64:ff9b:1::1", False), ("100::1", False), ("1fff:ffff::", False),
    ("2000::", True), ("2001::1", False), ("2001:1ff:ffff::", False), ("2001:200::", True), ("2001:db8::1", False),
    ("2001:db7:ffff::", True), ("2001:db9::", True), ("2001:ffff::", True), ("2002::", False), ("2002:808:808::1", False),
    ("2003::", True), ("2606:2800:220:1::1", True), ("3ffe:ffff::", True), ("3fff::1", False), ("3fff:fff:ffff::", False),
    ("3fff:1000::", True), ("4000::", False), ("5f00::1", False), ("fc00::1", False), ("fdff::1", False), ("fe80::1", False),
    ("fec0::1", False), ("ff02::1", False),
    ("2606:2800::5efe:a00:1", False), ("2606:2800::200:5efe:a00:1", False), ("2606:2800::5efe:808:808", True),
]  # fmt: skip


@pytest.mark.parametrize(("address", "allowed"), EDGES)
def test_edges_of_well_known_blocks(address, allowed):
    """Private, shared, loopback, link-local, multicast, translated and documentation addresses are
    forbidden, others not.
    """
    assert allowed == Guard().allows(address)
    assert allowed == ("" == Guard().fault(address))


@pytest.mark.parametrize("text", ["", "example.com", "127.1", "2130706433", "1.2.3.4.5", "fe80::1%eth0", "[::1]"])
def test_text_that_is_no_address_is_forbidden(text):
    """Only exactly one public address is allowed."""
    assert not Guard().allows(text)


def test_allow_networks_opens_only_its_networks():
    """All other special networks stay forbidden."""
    guard = Guard(["127.0.0.0/8", "fd00::/8"])

    assert [True, True, False, False] == [guard.allows(a) for a in ("127.9.9.9", "fd12::1", "10.0.0.1", "fc00::1")]
    assert ["", ""] == [guard.fault(address) for address in ("127.9.9.9", "fd12::1")]


def test_allowed_translation_prefix_does_not_open_private_networks():
    """With NAT64 allowed, public IPv4 addresses behind it are allowed, private ones are not."""
    guard = Guard(["64:ff9b::/96", "2002::/16", "::ffff:0:0/96"])
    asked = [
        "64:ff9b::808:808",
        "64:ff9b::a00:1",
        "2002:808:808::1",
        "2002:a00:1::1",
        "::ffff:8.8.8.8",
        "::ffff:10.0.0.1",
    ]

    assert [True, False, True, False, True, False] == [guard.allows(address) for address in asked]


def test_embedded_addresses_are_found():
    """Each transition form has IPv4 addresses (Teredo: its server and, inverted, its client)."""
    forms = {
        "::ffff:10.0.0.1": ["10.0.0.1"],
        "::10.0.0.1": ["10.0.0.1"],
        "64:ff9b::a00:1": ["10.0.0.1"],
        "2002:a00:1::": ["10.0.0.1"],
        "2001:0:808:808::f5ff:fffe": ["8.8.8.8", "10.0.0.1"],
        "2606::5efe:a00:1": ["10.0.0.1"],
        "2606::1": [],
    }

    assert forms == {form: [str(a) for a in list_embedded(ipaddress.ip_address(form))] for form in forms}


def test_fault_names_the_address_and_its_block():
    """An allowed address has no fault."""
    assert "10.0.0.1 is private use" == Guard().fault("10.0.0.1")
    assert "" == Guard().fault("93.184.216.34")


def test_home_guard_allows_only_the_named_networks():
    """Public addresses are forbidden too, so that no name can be both."""
    inside = HomeGuard(("10.0.0.0/8",))

    assert inside.allows("10.1.2.3")
    assert not inside.allows("127.0.0.1")
    assert "outside the networks of fetch.allow_networks" in inside.fault("93.184.216.34")


@pytest.mark.parametrize(
    ("allowed", "address", "may"),
    [
        ("::1/128", "::1", True),
        ("::/0", "::1", True),
        ("::/0", "::ffff:10.0.0.1", False),
        ("::/0", "64:ff9b::a00:1", False),
        ("::/0", "2002:a00:1::1", False),
        ("fd12::/16", "fd12::5efe:a00:1", True),
        ("fd12::/16", "fd12::5efe:7f00:1", True),
        ("fd13::/16", "fd12::5efe:a00:1", False),
        ("127.0.0.0/8", "::1", False),
        ("::1/128", "::2", False),
        ("::1/128", "::7f00:1", False),
        ("64:ff9b::/96", "64:ff9b::a00:1", False),
    ],
)
def test_ipv6_address_in_an_allowed_network_is_checked_by_its_form(allowed, address, may):
    """An address that only looks like ISATAP belongs to the network itself. One with a translation
    prefix is still checked by its IPv4 address.
    """
    assert may == Guard([allowed]).allows(address)


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "::1", "169.254.169.254", "93.184.216.34", "::ffff:127.0.0.1", "example.org"]
)
@pytest.mark.parametrize("networks", [(), ("127.0.0.0/8",)])
def test_mail_uses_the_same_guard(address, networks):
    """`OutboundDoor` gives the same faults."""
    assert Guard(networks).fault(address) == OutboundDoor(networks).fault(address)


def test_name_is_not_an_address():
    """A caller that connects by name is refused."""
    assert OutboundDoor(("0.0.0.0/0",)).fault("localhost")


def test_outbound_door_can_be_pickled():
    """The check and the TLS contexts are used in another process."""
    door = OutboundDoor(("127.0.0.0/8",))
    fault, tls = pickle.loads(pickle.dumps((door.fault, door.tls)))

    assert "" == fault("127.0.0.1")
    assert fault("10.0.0.1")
    assert isinstance(tls(), ssl.SSLContext)


def test_tls_context_verifies_certificates():
    """Names of hosts are checked too."""
    context = OutboundDoor().tls()

    assert (ssl.CERT_REQUIRED, True) == (context.verify_mode, context.check_hostname)
