"""Selectors that heal, on successive versions of real pages: how often they find the right place
again, a wrong one, or say that it is lost.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR python bench/healing.py [--pages N] [--targets 8]

Targets are elements with a text of their own; for each the selectors that people write: its id, its
class, its path by numbers. Each is followed from a version to each later one. What is right is
known by something that the healer is not shown:

- *real misses, there*: the selector finds nothing in a later version, and the target's text is there, whole and in one place; the healer is
  not given texts (their weight is 0);
- *real misses, gone*: its text is nowhere. A place that says most of it (words in order, > 0.6) is called edited, any other is wrong;
- *redesign*: in the later version all ids and classes are renamed, and the target is known by its text, which is not shown either;
- *whole redesign*: the same with all evidence, texts too, as the service has it;
- *taken out*: the later version without the target, whatever else it holds; any place that is found is wrong.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq
from selectolax.lexbor import LexborNode

from tests.data_sets import files_of, path_of
from tidings.document.html.walk import WITHOUT_TEXT
from tidings.document.parse import parse
from tidings.document.select.targets import WEIGHTS, Bundle, bundle_of, heal
from tidings.document.select.trees import HtmlTree
from tidings.model.watch.interest import Selector

EDITED = 0.6
"""A text is the same one edited if more than this share of the words is left in order."""
FAMILIES = ("terms-html", "javadoc-frames", "election")
SECONDS: list[float] = []
"""How long each search took, the first one on a page with the walk through it."""
BLIND: Mapping[str, float] = {**WEIGHTS, "text": 0.0}
_PLAIN = re.compile(r"-?[A-Za-z_][\w-]*")
_NAMES = re.compile(rb"""\b(id|class)=("[^"]*"|'[^']*')""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """An element of a version: how people select it, and its text."""

    kind: str
    selector: Selector
    text: str
    bundle: Bundle


def versions(most: int | None) -> Iterator[list[bytes]]:
    """Yield the versions of each HTML page, oldest first."""
    rows = csv.DictReader(io.StringIO(gzip.decompress(path_of("page_versions/index.csv.gz").read_bytes()).decode()))
    pages: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        if row["family"] in FAMILIES and row["file"].endswith((".html", ".htm")):
            pages[row["family"], row["page"]].append(row["file"])
    for family in FAMILIES:
        names = {file for (of, _), files in pages.items() if of == family for file in files}
        bodies = {
            f"{family}/{name.split(family + '/', 1)[-1]}": data
            for name, data in files_of(f"page_versions/{family}.tar.zst")
        }
        for (of, _), files in list(pages.items())[:most]:
            if of == family and names:
                yield [bodies[file] for file in files if file in bodies]


def tree_of(body: bytes) -> HtmlTree | None:
    """Return the tree of a body, None if it cannot be read."""
    document = parse(body, "text/html; charset=utf-8", url="http://x.org/", keep_tree=True)
    return document.tree if isinstance(document.tree, HtmlTree) else None


def elements(tree: HtmlTree) -> list[LexborNode]:
    """Return the elements with texts."""
    root = tree.root
    every = root.traverse() if root is not None else ()
    return [node for node in every if node.is_element_node and node.tag not in {*WITHOUT_TEXT, "html", "head", "body"}]


def get_text(node: LexborNode) -> str:
    """Return the text of an element in one line."""
    return " ".join(node.text(deep=True).split())


def innermost(tree: HtmlTree) -> dict[str, LexborNode]:
    """Return the innermost element of each text that stands in one place only."""
    found: dict[str, list[LexborNode]] = defaultdict(list)
    for node in elements(tree):
        text = get_text(node)
        if 12 <= len(text) <= 400:
            found[text].append(node)
    alone: dict[str, LexborNode] = {}
    for text, nodes in found.items():
        inner = nodes[-1]
        around = {inner.mem_id}
        above = inner.parent
        while above is not None:
            around.add(above.mem_id)
            above = above.parent
        if all(node.mem_id in around for node in nodes):
            alone[text] = inner
    return alone


def selectors_of(node: LexborNode) -> Iterator[tuple[str, str]]:
    """Yield the selectors that people would write for an element."""
    id_ = node.attrs.get("id") or ""
    if _PLAIN.fullmatch(id_):
        yield "id", f"#{id_}"
    classes = [one for one in (node.attrs.get("class") or "").split() if _PLAIN.fullmatch(one)]
    if classes:
        yield "class", f"{node.tag}.{'.'.join(classes[:3])}"
    steps: list[str] = []
    at: LexborNode | None = node
    while at is not None and at.tag not in {"html", None}:
        number, before = 1, at.prev
        while before is not None:
            number += before.is_element_node
            before = before.prev
        steps.append(at.tag if at.tag == "body" else f"{at.tag}:nth-child({number})")
        at = at.parent
    yield "path", " > ".join(reversed(steps))


def targets_of(tree: HtmlTree, most: int) -> Iterator[Target]:
    """Yield some targets of a version, spread over it."""
    alone = sorted(innermost(tree).items(), key=lambda item: hash_of(item[0]))
    for text, node in alone[:most]:
        for kind, css in selectors_of(node):
            selector = Selector("css", css)
            if tree.search(selector).nodes == {node.mem_id} and (bundle := bundle_of(tree, selector)) is not None:
                yield Target(kind, selector, text, bundle)


def hash_of(text: str) -> int:
    """Return a number that is the same at every run."""
    number = 0
    for letter in text:
        number = (number * 131 + ord(letter)) % 1_000_003
    return number


def verdict(tree: HtmlTree, target: Target, right: int | None, weights: Mapping[str, float]) -> str:
    """Return `right`, `wrong` or `lost`: whether the healer found the element of id `right`, or one that says the same.

    None: there is no element with that text; one that says most of it is `edited`.
    """
    started = time.perf_counter()
    healed = heal(tree, target.bundle, weights)
    SECONDS.append(time.perf_counter() - started)
    if healed is None:
        return "lost"
    found = tree.search(healed.selector).nodes
    if right is None:
        like = LCSseq.normalized_similarity(healed.text.casefold().split(), target.bundle.text.casefold().split())
        return "edited" if like > EDITED else "wrong"
    return "right" if found == {right} or healed.text == target.text[:400] else "wrong"


def rename_ids(body: bytes) -> bytes:
    """Return a page all of whose ids and classes are other words."""
    return _NAMES.sub(
        lambda found: (
            found[1] + b"='" + b" ".join(b"q%x" % hash_of(n.decode("latin-1")) for n in found[2][1:-1].split()) + b"'"
        ),
        body,
    )


def follow(bodies: list[bytes], most: int, table: dict[tuple[str, str], Counter[str]]) -> None:
    """Follow the targets of each version to the later ones."""
    trees = [tree for body in bodies if (tree := tree_of(body)) is not None]
    if len(trees) != len(bodies):
        return
    texts = [innermost(tree) for tree in trees]
    for i, tree in enumerate(trees):
        targets = list(targets_of(tree, most))
        for j in range(i + 1, min(len(trees), i + 4)):
            other = trees[j]
            whole = " ".join((other.root.text(deep=True) if other.root else "").split())
            redesigned = tree_of(rename_ids(bodies[j])) if j == i + 1 else None
            new_texts = innermost(redesigned) if redesigned is not None else {}
            for target in targets:
                twin = texts[j].get(target.text)
                if not other.search(target.selector).nodes:
                    if twin is not None:
                        table["real misses, there", target.kind][verdict(other, target, twin.mem_id, BLIND)] += 1
                    elif target.text not in whole:
                        table["real misses, gone", target.kind][verdict(other, target, None, WEIGHTS)] += 1
                new = new_texts.get(target.text) if target.kind != "path" and twin is not None else None
                if redesigned is not None and new is not None:
                    table["redesign", target.kind][verdict(redesigned, target, new.mem_id, BLIND)] += 1
                    table["whole redesign", target.kind][verdict(redesigned, target, new.mem_id, WEIGHTS)] += 1
            if j == i + 1:
                look_up(bodies[j], targets, texts[j], table)


def look_up(
    body: bytes, targets: list[Target], texts: Mapping[str, LexborNode], table: dict[tuple[str, str], Counter[str]]
) -> None:
    """Search for targets in a version that does not hold them any more."""
    for target in targets:
        if target.text not in texts:
            continue
        tree = tree_of(body)
        node = innermost(tree).get(target.text) if tree is not None else None
        if tree is None or node is None:
            continue
        node.decompose()
        if not tree.search(target.selector).nodes:
            found = verdict(tree, target, None, WEIGHTS)
            table["taken out", target.kind]["lost" if found == "lost" else "wrong"] += 1


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=None)
    parser.add_argument("--targets", type=int, default=6)
    arguments = parser.parse_args()
    table: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for bodies in versions(arguments.pages):
        follow(bodies, arguments.targets, table)
    print(f"{'case':<22}{'selector':<10}{'number':>8}{'right':>9}{'edited':>9}{'wrong':>9}{'lost':>9}")
    for (case, kind), counts in sorted(table.items()):
        number = sum(counts.values())
        shares = "".join(f"{counts[name] / number:>9.1%}" for name in ("right", "edited", "wrong", "lost"))
        print(f"{case:<22}{kind:<10}{number:>8}{shares}")
    if SECONDS:
        print(
            f"a search: {sorted(SECONDS)[len(SECONDS) // 2] * 1e3:.1f} ms in the middle, {max(SECONDS) * 1e3:.0f} ms at most"
        )


if __name__ == "__main__":
    main()
