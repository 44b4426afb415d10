"""Masks of a document."""

from tidings.detection.ask.pair import Pair
from tidings.detection.noise.mask import NoiseMask
from tidings.detection.noise.memory import Memory
from tidings.document.parse import parse
from tidings.model.watch.interest import Interest


def page(text):
    return parse(f"<p>{text}</p>".encode(), "text/html")


def test_mask_does_not_confuse_documents():
    """Parts are extracted again after a selector healed; a new one may have the memory address of
    an old one.
    """
    mask = NoiseMask(Memory())

    def report(before):
        pair = Pair(page(f"{before} 3 hours ago"), page(f"{before} 4 hours ago"))
        return pair.through(mask.again()).compare(Interest("any"))

    assert [()] * 20 == [report("some words stand here " * number) for number in range(20)]
