"""Each host is of one shard, and each page of one run."""

import pytest

from tidings.fetching.address import LOCAL_HOSTS
from tidings.service.watch.shards import ALL, Shards, shard_of

HOSTS = [f"h{number}.example" for number in range(200)]


@pytest.mark.parametrize("count", [1, 2, 7])
def test_each_host_is_owned_by_one_of_the_runs(count):
    """The same one each time, and every run has some."""
    runs = [Shards(count, frozenset({number})) for number in range(count)]
    owners = [[run for run in runs if run.owns(host)] for host in HOSTS]

    assert {1} == set(map(len, owners))
    assert count == len({each[0] for each in owners})
    assert {0} == {shard_of(host, count) for host in LOCAL_HOSTS}


def test_shard_of_a_host_never_changes():
    """It is the same in every process and version."""
    assert [2, 4, 1] == [shard_of(host, 5) for host in ("a.example", "b.example", "shop.example")]


def test_one_run_may_have_several_shards():
    """With all of them there is no other planner; the one with shard 0 leads."""
    some, every = Shards(3, frozenset({1, 2})), Shards(3, frozenset({0, 1, 2}))

    assert (False, False) == (some.is_all, some.leads)
    assert (True, True) == (every.is_all, every.leads) == (ALL.is_all, ALL.leads)
    assert (False, True) == ((lead := Shards(3, frozenset({0}))).is_all, lead.leads)
    assert all(every.owns(host) and ALL.owns(host) for host in HOSTS)
