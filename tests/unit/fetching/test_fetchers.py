from __future__ import annotations

import pytest

from tidings.errors import UsageError
from tidings.fetching.fetchers import FETCHERS


def test_an_unknown_fetcher_names_those_that_are_there():
    """Asking for a fetcher that is not there says which are."""
    with pytest.raises(UsageError, match=r'there is no fetcher "telnet"; there are: (browser, client|client, browser)'):
        FETCHERS["telnet"]
