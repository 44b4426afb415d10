from tidings.detection.ask.pair import Pair
from tidings.detection.noise.mask import Mask
from tidings.detection.noise.memory import Memory
from tidings.document.parse import parse
from tidings.model.watch.interest import Interest


def page(text):
    return parse(f"<p>{text}</p>".encode(), "text/html")


def test_a_mask_takes_no_document_for_another_that_is_gone():
    """Parts of a page are taken anew when a selector was mended; a new one may stand where in memory an old one stood."""
    mask = Mask(Memory())

    def report(before):
        pair = Pair(page(f"{before} 3 hours ago"), page(f"{before} 4 hours ago"))
        return pair.through(mask.again()).compare(Interest("any"))

    assert [()] * 20 == [report("some words stand here " * number) for number in range(20)]
