from types import SimpleNamespace

from tidings.service.show.notices import notice_record


def _words(kind, reason):
    event = SimpleNamespace(type="page.error", at=5, page_id=1, data={"kind": kind, "reason": reason, "since": 1})
    return notice_record(event, sentinel="s", url="http://a.example/")["summary"]


def test_page_gone_permanently_is_not_gone_for_now():
    """410 is final; all other errors may end."""
    assert "the page can no longer be watched: the page is gone permanently (410)" == _words(
        "410", "the page is gone permanently (410)"
    )
    assert "the page cannot be watched for now (404): not found" == _words("404", "not found")
