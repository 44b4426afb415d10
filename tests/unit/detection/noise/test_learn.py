from tidings.detection.find.findings import finding_of_words
from tidings.detection.noise import learn
from tidings.detection.noise.looks import Looked
from tidings.detection.noise.memory import Memory
from tidings.detection.noise.places import place_of
from tidings.document.parse import parse


def page(shown):
    rows = "".join(
        f"<p>{chr(97 + n % 20)}{chr(97 + n // 20)}row {chr(97 + n)}name costs {shown}{n} and not more than that</p>"
        for n in range(60)
    )
    return parse(rows.encode(), "text/html")


def test_a_look_looks_for_no_more_places_than_it_adds(monkeypatch):
    """A page with thousands of changes costs as much to learn from as one with four."""
    old, new = page("x"), page("y")
    asked = []

    def counted(*given):
        asked.append(given)
        return place_of(*given)

    monkeypatch.setattr(learn, "place_of", counted)
    found = learn.learned(Memory(), old, new, finding_of_words(old, new).edits, Looked(1, 1))

    assert learn.MOST_NEW == len(found.things) < 60
    assert len(asked) <= 2 * learn.MOST_NEW
