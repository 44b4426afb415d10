"""Words and links agree with the trees of html5lib's suite."""

from collections import Counter

from tests.html5lib import Case, cases, list_expected, outcome


def test_words_and_links_agree_with_the_trees_of_the_standard():
    """Of 1,796 cases 1,568 can be compared and agree; six differ, for two known reasons
    (`bench/html5lib.py`).
    """
    found = Counter(map(outcome, cases()))

    assert {"agrees": 1_568, "writes": 2, "selectedcontent": 4, "xml": 3, "fragment": 192, "scripting": 27} == found


def test_difference_would_be_found():
    """The reader of trees reads their content, and another text differs."""
    tree = '| <html>\n|   <head>\n|   <body>\n|     <p>\n|       "one\ntwo"\n|       <a>\n|         href="/x"\n|         "three"'
    page = "<p>one\ntwo<a href=/x>three</a>"

    assert (["one", "twothree"], ["/x"]) == list_expected(Case("", page, tree))
    assert "agrees" == outcome(Case("", page, tree))
    assert "differs" == outcome(Case("", page + "more", tree))
    assert "differs" == outcome(Case("", page.replace("/x", "/y"), tree))
