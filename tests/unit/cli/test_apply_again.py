"""`apply` of files whose sentinels have been altered since."""

from tidings.language.forms import parse_file
from tidings.service.sentinels import apply


def test_file_is_parsed_once_for_all_altered_sentinels(tidings, tmp_path, monkeypatch):
    """The meaning at their creation is read once for all sentinels that were created together."""
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
