"""The charset of a body, from its evidence."""

import codecs
import subprocess
import sys

import pytest
from charset_normalizer import from_bytes
from hypothesis import given
from hypothesis import strategies as st

from tests import data_sets
from tidings.document.text.charset import SAMPLE_BYTES, decode, find_charset

HTML = "text/html; charset="


@pytest.mark.parametrize(
    ("data", "content_type", "last_good", "expected"),
    [
        (codecs.BOM_UTF8 + "é".encode(), HTML + "iso-8859-1", "", ("é", "utf-8", "bom")),
        ("é".encode("utf-16"), HTML + "utf-8", "", ("é", "utf-16-le", "bom")),
        ("é".encode("utf-32"), None, "", ("é", "utf-32-le", "bom")),
        (b"\xe9", HTML + "windows-1251", "", ("й", "cp1251", "header")),
        (b'<meta charset="windows-1251">\xe9', None, "", ('<meta charset="windows-1251">й', "cp1251", "meta")),
        ("é".encode(), "text/html", "", ("é", "utf-8", "utf-8")),
        (b"\xe9", None, "cp1251", ("й", "cp1251", "last good")),
        ("aé".encode("utf-16-le") * 40, None, "", ("aé" * 40, "utf-16-le", "statistics")),
        (b"\xe9!\x80\x81", None, "", ("é!€\x81", "cp1252", "fallback")),
    ],
)
def test_evidence_has_an_order(data, content_type, last_good, expected):
    """Mark, header, declaration, UTF-8, the last version's charset, zeros, windows-1252: the first
    that fits holds.
    """
    decoded = decode(data, content_type, last_good=last_good)

    assert expected == (decoded.text, decoded.charset, decoded.source)


@pytest.mark.parametrize(
    "label",
    [
        "rot13",
        "rot_13",
        "base64",
        "idna",
        "punycode",
        "unicode_escape",
        "zip",
        "x" * 500,
        "a\0b",
        "%s",
        "../x",
        "undefined",
    ],
)
def test_unknown_charset_labels_are_ignored(label):
    """`charset=rot13` (H-053) and similar ones never raise; the bytes are read as without them."""
    decoded = decode("naïve".encode(), HTML + label)

    assert ("naïve", "utf-8", "utf-8") == (decoded.text, decoded.charset, decoded.source)
    assert "" == find_charset(label)


@pytest.mark.parametrize("last_good", ["", "utf-8", "cp1252"])
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"caf\xe9 \xe9t\xe9", "café été"),
        (b"caf\xe9 \xe9t\xe9 \x93five\x94 \x81\x80", "café été “five” \x81€"),
        ("Menü: ".encode() + b"Fr\xfchst\xfcck, f\xfcnf", "Menü: Frühstück, fünf"),
    ],
    ids=["latin-1", "windows-1252", "a part is UTF-8"],
)
def test_letters_contradict_a_false_declaration(data, text, last_good):
    """It says UTF-8, and most letters are of windows-1252 (H-054). What is UTF-8 stays, and the
    text never depends on the version before.
    """
    expected = text if last_good != "cp1252" else decode(data).text
    decoded = decode(data, HTML + "utf-8", last_good=last_good)

    assert (expected, "utf-8") == (decoded.text, decoded.wrong)


@pytest.mark.parametrize(
    "data",
    [
        b"ASCII and caf\xe9",
        "Frühstück kostet fünf Euro".encode()[:-5] + b"\xc3",
        "今日は谷で雨が降り、電車が遅れています。".encode() + b"<p>\xe4\xbb<p>\x94\xa5",
    ],
    ids=["one letter", "cut", "a few"],
)
@pytest.mark.parametrize("last_good", ["", "cp1252"])
def test_letters_lost_in_a_few_places_do_not_contradict(data, last_good):
    """A body that was cut or damaged is still in its charset: lost letters are how it is noticed."""
    decoded = decode(data, HTML + "utf-8", last_good=last_good)

    assert (data.decode("utf-8", "replace"), "utf-8", "") == (decoded.text, decoded.charset, decoded.wrong)


def test_header_overrides_meta():
    """A readable meta that says utf-16 must be wrong; the header holds (H-055)."""
    page = '<meta charset="utf-16">é'.encode()

    assert ("utf-8", "header") == (decode(page, HTML + "utf-8").charset, decode(page, HTML + "utf-8").source)
    assert ("utf-8", "meta") == (decode(page).charset, decode(page).source)


def test_declaration_in_a_comment_is_ignored():
    """It declares nothing."""
    assert "utf-8" == decode("<!-- <meta charset=koi8-r> --><p>é".encode()).charset


def test_lost_charset_setting_is_no_change():
    """UTF-8 bytes that are suddenly sent as ISO-8859-1 stay UTF-8 if the last version was
    (changedetection.io 2963).
    """
    flipped = decode("naïve café".encode(), HTML + "iso-8859-1", last_good="utf-8")

    assert ("naïve café", "last good") == (flipped.text, flipped.source)
    assert "naÃ¯ve cafÃ©" == decode("naïve café".encode(), HTML + "iso-8859-1").text


LETTERS = {
    "cp1251": "Сегодня в долине ожидается дождь, поезда опаздывают, а завтра обещают солнце и тепло.",
    "koi8-r": "Сегодня в долине ожидается дождь, поезда опаздывают, а завтра обещают солнце и тепло.",
    "cp1253": "Σήμερα στην κοιλάδα αναμένεται βροχή και τα τρένα έχουν καθυστέρηση, αύριο όμως θα έχει ήλιο.",
    "cp932": "今日は谷で雨が降り、電車が遅れています。明日は晴れて暖かくなるでしょう。",
    "euc_jp": "今日は谷で雨が降り、電車が遅れています。明日は晴れて暖かくなるでしょう。",
    "gb18030": "今天山谷里有雨，火车晚点，明天天气晴朗而且温暖。请大家注意安全。",
    "big5hkscs": "今天山谷裡有雨，火車誤點，明天天氣晴朗而且溫暖。請大家注意安全。",
    "cp949": "오늘 계곡에는 비가 내리고 기차가 늦어지고 있습니다. 내일은 맑고 따뜻하겠습니다.",
}


@pytest.mark.parametrize("charset", LETTERS)
def test_letters_show_an_undeclared_charset(charset):
    """Without mark, header, declaration and last version they decide, also among tags and scripts."""
    page = f"<html><script>var a = 'x';</script><p>{LETTERS[charset]}</p>" + f"<p class=x>{LETTERS[charset]}</p>" * 5
    decoded = decode(page.encode(charset), "text/html")

    assert (page, charset, "statistics") == (decoded.text, decoded.charset, decoded.source)


@pytest.mark.parametrize("charset", LETTERS)
def test_letters_show_the_charset_behind_a_false_declaration(charset):
    """UTF-8 is declared, and hardly any byte is UTF-8."""
    page = f"<p>{LETTERS[charset]}</p>" * 3
    decoded = decode(page.encode(charset), HTML + "utf-8")

    assert (page, charset, "utf-8") == (decoded.text, decoded.charset, decoded.wrong)
    assert page == decode(page.encode(charset), HTML + "utf-8", last_good=charset).text


@pytest.mark.parametrize(
    "text",
    [
        "Heute fällt im Tal Regen, die Züge sind verspätet; morgen wird es schön und warm, so heißt es. " * 5,
        "Aujourd'hui il pleut dans la vallée, les trains sont retardés, l'été est déjà là, mais où est le soleil ? "
        * 5,
        "“Quoted” — and an ellipsis… and a price of 5 € or £4, ‘so they say’ • one • two • three. " * 5,
        "Olá, não há comboios hoje; amanhã o verão começa, diz a previsão, e então haverá sol. " * 5,
    ],
    ids=["German", "French", "signs", "Portuguese"],
)
def test_windows_1252_is_the_default(text):
    """Most undeclared web pages have it: another charset needs evidence."""
    decoded = decode(f"<p>{text}".encode("cp1252", "xmlcharrefreplace"), "text/html")

    assert ("cp1252", "fallback") == (decoded.charset, decoded.source)


def test_single_word_is_too_little_evidence():
    """A page that only names a language in another script is not read in that script's charset."""
    assert "fallback" == decode("<p>Deutsch, English, Русский".encode("cp1251")).source


def test_declared_language_gives_its_charset():
    """Polish in windows-1250 is recognized by the language of the page."""
    page = (
        "<html lang='pl'><p>" + "Dziś w dolinie pada deszcz, pociągi są opóźnione, jutro będzie słońce i ciepło. " * 5
    )

    assert page == decode(page.encode("cp1250"), "text/html").text


def test_declaration_and_last_version_override_letters():
    """Then nothing is guessed: the charset does not change with the words."""
    data = (LETTERS["cp1251"] * 5).encode("cp1251")

    assert ["koi8-r", "koi8-r", "cp1251"] == [
        decode(data, HTML + "koi8-r").charset,
        decode(data, last_good="koi8-r").charset,
        decode(data).charset,
    ]


def test_guess_takes_limited_time(monkeypatch):
    """A few lines of ten megabytes are used."""
    lengths = []

    def count(sample, **options):
        lengths.append(len(sample))
        return from_bytes(sample, **options)

    monkeypatch.setattr("charset_normalizer.from_bytes", count)
    decoded = decode((LETTERS["koi8-r"] * 120_000).encode("koi8-r"))

    assert "koi8-r" == decoded.charset
    assert 0 < sum(lengths) <= 4 * SAMPLE_BYTES


def test_statistics_are_loaded_only_for_a_guess():
    """A declared charset or UTF-8 does not load the tables, which take time at the start."""
    code = "import sys, tidings.document.text.charset as c; c.decode('é'.encode()); print('charset_normalizer' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert "False" == loaded.strip()


@given(st.binary(max_size=200), st.text(max_size=30), st.text(max_size=10))
def test_every_body_and_label_give_a_text(data, content_type, last_good):
    """Nothing raises, the text can be written as UTF-8, and the same bytes give the same text."""
    decoded = decode(data, content_type, last_good=last_good)

    assert decoded == decode(data, content_type, last_good=last_good)
    assert decoded.utf8.decode("utf-8", "replace") is not None


def test_pages_of_all_languages_are_read_as_declared():
    """With the true charset in the header, each page of the charset corpus is read without a
    replacement character.
    """
    rows = {row["file"]: row["true_or_utf8_check"] for row in data_sets.rows_of("html_corpus/index.csv")}
    wrong = []
    for name, content in data_sets.files_of("html_corpus/charsets.tar.zst"):
        label = rows.get(name) or rows[f"charsets/{name}"]
        if not find_charset(label):
            continue
        decoded = decode(content, HTML + label)
        if "\ufffd" in decoded.text and "\ufffd".encode() not in content:
            wrong.append((name, label))

    assert [] == wrong


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("label", ["", "wide"])
@pytest.mark.parametrize("text", ["<p>In stock: 5</p>", "<p>Привет, мир</p>", "<p>Größe</p>"])
def test_utf_16_and_utf_32_without_a_mark_are_read(charset, label, text):
    """Their bytes are valid UTF-8 too, with NULs; they are recognized, declared or not."""
    content_type = f"text/html; charset={charset[:6]}" if label else "text/html"
    found = decode(text.encode(charset), content_type)

    assert (text, charset) == (found.text, found.charset)
