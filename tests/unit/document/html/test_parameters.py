import pytest

from tidings.document.html.parameters import without_noise


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ""),
        ("id=7&utm_source=a&utm_medium=b", "id=7"),
        ("fbclid=x&q=a+b&gclid=y", "q=a+b"),
        ("PHPSESSID=abc&page=2", "page=2"),
        ("ASPSESSIONIDQQ=1&osCsid=2", ""),
        ("_=1730000000123&a", "a"),
        ("t=1730000000&ts=1730000000.25", ""),
        ("t=30&s=books&v=dQw4w9WgXcQ&sid=5", "t=30&s=books&v=dQw4w9WgXcQ&sid=5"),
        ("sid=9f86d081884c7d659a2feaa0c55ad015&a=1", "a=1"),
        ("token=eyJhbGciOiJIUzI1NiJ9.abc", ""),
        ("b=2&a=1&&b=2", "b=2&a=1&b=2"),
    ],
)
def test_parameters_that_say_nothing(query, expected):
    """Sessions, tracking and cache busters go, by name or by a value made by chance; what is left keeps its order and number."""
    assert expected == without_noise(query)


def test_of_an_image_its_version_says_nothing():
    """And what was learned of a site goes too."""
    assert "w=2" == without_noise("v=12&w=2&ver=5.8.1&rev=7&k=1", frozenset({"k"}), of_image=True)
