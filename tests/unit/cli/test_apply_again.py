"""`apply` of files whose sentinels have changed since."""

from tidings.language.forms import parse_file
from tidings.service.sentinels import apply


def test_a_file_is_read_once_more_however_many_sentinels_have_changed(tidings, tmp_path, monkeypatch):
    """What it meant when they were made is read once for all that were made then, not once a sentinel."""
    file, reads = tmp_path / "all.sentinel", []

    def read(*given, **more):
        reads.append(given[0])
        return parse_file(*given, **more)

    monkeypatch.setattr(apply, "parse_file", read)

    def say(every):
        texts = (
            f"Create Sentinel s{n} Using https://a.example/{n} Monitor any change Fetch every {every}" for n in range(5)
        )
        file.write_text(";".join(texts), encoding="utf-8")
        return tidings("apply", str(file)).out

    made, altered = say("1 hour"), say("2 hour")

    assert (5, 5) == (made.count("created"), altered.count("altered"))
    assert [str(file)] == reads
