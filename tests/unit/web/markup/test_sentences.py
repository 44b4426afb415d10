"""Each text of a template is a whole sentence of the catalogue, with placeholders for its values."""

import json
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from tidings.web.markup import translations
from tidings.web.markup.sentences import Sentences, sentences_of_templates
from tidings.web.markup.translations import choose_language, draw, translate, translate_count


def templates(source: str) -> Environment:
    """Return an environment with one template."""
    made = Environment(loader=DictLoader({"one": source}), autoescape=True, extensions=[Sentences])
    made.globals.update(_=draw)
    return made


def sentences(source: str) -> list[str]:
    """Return the sentences of a template."""
    return sorted(text for text, *_ in sentences_of_templates(templates(source)))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>Nothing new.</p>", ["Nothing new."]),
        ("<p>{{ page.many }} of {{ all }} pages</p>", ["{many} of {all} pages"]),
        ('<p>See <a href="/{{ x }}">the plan</a>, please.</p>', ["See <1>the plan</1>, please."]),
        ('<p><a href="/">One</a> · <a href="/two">Two</a></p>', ["One", "Two"]),
        ('<p>A{% if x %} and <b class="{{ y }}">b{% endif %}</p>', ["A", "and", "b"]),
        ('<a aria-label="Select {{ name }}" class="not said">{{ name }}</a>', ["Select {name}"]),
        ("<label>Try <input name='n'> checks</label>", ["Try <1> checks"]),
        ("<pre>tidings demo</pre> <kbd>j</kbd> <textarea>Create</textarea> 12 · {{ x }}", []),
        ("<p>{{ icon('check') }} All is&nbsp;well</p>", ["All is\N{NO-BREAK SPACE}well"]),
        ('{% if a > b %}<p{% if a %} class="b"{% endif %}>{{ "said" }}: more</p>{% endif %}', ["{value}: more"]),
    ],
)
def test_each_text_of_a_template_is_a_sentence(source: str, found: list[str]):
    """A block ends a sentence, an inline element does not. Data and commands are not sentences."""
    assert found == sentences(source)


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Add a German translation and choose it."""
    words = {
        "": "n > 1",
        "See <1>{plan}</1>, {who}.": "{who}, siehe <1>{plan}</1> & mehr.",
        "{n} page": ["{n} Seite", "{n} Seiten"],
        "Pages": "Seiten",
    }
    (tmp_path / "de.json").write_text(json.dumps(words), encoding="utf-8")
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    translations.languages.cache_clear()
    choose_language("fr;q=0.9, de-AT, en;q=0.1")
    yield
    choose_language("en")
    translations.languages.cache_clear()


@pytest.mark.usefixtures("german")
def test_translation_moves_placeholders():
    """Values are escaped, and so is the translation: it cannot add a tag."""
    page = templates('<p>See <a href="/{{ x }}">{{ plan }}</a>, {{ who }}.</p>').get_template("one")

    assert '<p>&lt;b&gt;, siehe <a href="/1">Plan</a> &amp; mehr.</p>' == page.render(x=1, plan="Plan", who="<b>")


@pytest.mark.usefixtures("german")
def test_count_uses_the_plural_rule_of_its_language():
    """The rule is in the file. A missing sentence is shown in English."""
    assert ["0 Seite", "1 Seite", "1,200 Seiten"] == [
        translate_count(many, "{n} page", "{n} pages") for many in (0, 1, 1_200)
    ]
    assert ("Seiten", "Plan") == (translate("Pages"), translate("Plan"))
    assert "2 changes" == translate_count(2, "{n} change", "{n} changes")
