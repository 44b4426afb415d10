"""Settings are one table: from defaults, a file, the environment and flags; what is unknown or impossible is refused by name."""

import dataclasses

import pytest

from tidings.errors import SettingError
from tidings.settings import DELETED, SECTIONS, BudgetSettings, Settings, default_data_directory, load, table

ROWS = {row.name: row for row in table()}
NUMBERS = [row.name for row in ROWS.values() if row.type in {"int", "float"}]


def load_settings(tmp_path, toml="", environment=None, flags=None):
    """Return the settings of a directory with that file in that environment."""
    (tmp_path / "tidings.toml").write_text(toml, encoding="utf-8")
    return load(tmp_path, environment=environment or {}, flags=flags)


def explain_refusal(tmp_path, *given, **more):
    """Return why settings are refused."""
    with pytest.raises(SettingError) as caught:
        load_settings(tmp_path, *given, **more)
    return str(caught.value)


# -- the table ---------------------------------------------------------------------------------------------------------------------


def test_the_table_names_every_field_once():
    """There is a row for each field of each section, in their order."""
    fields = [f"{section}.{f.name}" for section in SECTIONS for f in dataclasses.fields(getattr(Settings(), section))]

    assert fields == list(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_every_row_is_whole(name):
    """Each setting has a type that can be written in TOML, a help text, its variable and a default that is allowed."""
    row = ROWS[name]
    section, key = name.split(".")

    assert row.type in {"str", "int", "float", "bool", "list"}
    assert row.help
    assert f"TIDINGS_{section.upper()}_{key.upper()}" == row.variable
    assert Settings().value(name) == row.default
    assert row.least is None or row.default >= row.least
    assert row.most is None or row.default <= row.most


def test_no_two_settings_share_a_variable():
    """A variable means one setting, and none of those that are reserved."""
    variables = {row.variable for row in ROWS.values()}

    assert len(ROWS) == len(variables)
    assert not variables & {"TIDINGS_DATA", "TIDINGS_CONFIG", "TIDINGS_DATA_SETS"}


def test_secrets_are_marked():
    """What must never be shown is marked: the secret of webhooks and the address of the database, which may hold a password."""
    assert {"notify.webhook_secret", "store.url"} <= {row.name for row in ROWS.values() if row.secret}


def test_settings_cannot_be_changed():
    """Once loaded, settings stay."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().fetch.robots = False  # type: ignore[misc]


# -- where values come from --------------------------------------------------------------------------------------------------------


def test_defaults_hold_where_nothing_is_said(tmp_path):
    """An empty directory has the defaults of the table, and itself as data directory."""
    assert Settings(data=tmp_path) == load(tmp_path, environment={})


def test_later_sources_win(tmp_path):
    """Flags win over the environment, the environment over the file, the file over the defaults."""
    toml = "[fetch]\nhost_connections = 2\nbrowser_pages = 2\nbrowser_requests = 2\n"
    environment = {"TIDINGS_FETCH_BROWSER_PAGES": "3", "TIDINGS_FETCH_BROWSER_REQUESTS": "3"}
    fetch = load_settings(tmp_path, toml, environment, {"fetch.browser_requests": "4"}).fetch

    assert (2, 3, 4) == (fetch.host_connections, fetch.browser_pages, fetch.browser_requests)


def test_a_setting_of_an_earlier_version_has_no_effect(tmp_path):
    """A file or an environment that still has one is accepted, and it is named; --set refuses it."""
    toml = "".join(
        f"[{name.partition('.')[0]}]\n{name.partition('.')[2]} = 7\n" for name in ("schedule.needs", "fetch.max_ratio")
    )

    settings = load_settings(tmp_path, toml, {"TIDINGS_SERVE_PING_SECONDS": "5"})

    file = tmp_path / "tidings.toml"
    ignored = (
        f"schedule.needs ({file})",
        f"fetch.max_ratio ({file})",
        "serve.ping_seconds (TIDINGS_SERVE_PING_SECONDS)",
    )
    assert Settings(data=tmp_path, ignored=ignored) == settings
    assert not DELETED & {row.name for row in table()}
    with pytest.raises(SettingError, match=r"schedule\.needs is no longer a setting; leave out --set schedule\.needs"):
        load(tmp_path, environment={}, flags={"schedule.needs": "s_edf"})


def test_a_file_elsewhere(tmp_path):
    """A configuration that is named is read instead of the one in the data directory; the variable names one too."""
    other = tmp_path / "other.toml"
    other.write_text("[fetch]\nbrowser_pages = 7\n")
    (tmp_path / "tidings.toml").write_text("[fetch]\nbrowser_pages = 3\nbrowser_requests = 3\n")
    flag = load(tmp_path, other, environment={"TIDINGS_CONFIG": "/not/read"})
    variable = load(tmp_path, environment={"TIDINGS_CONFIG": str(other)})

    assert (7, 100) == (flag.fetch.browser_pages, flag.fetch.browser_requests)
    assert flag == variable


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TIDINGS_DATA": "/given", "XDG_DATA_HOME": "/xdg"}, "/given"),
        ({"XDG_DATA_HOME": "/xdg"}, "/xdg/tidings"),
    ],
)
def test_the_data_directory(environment, expected):
    """The variable names the data directory, else it lies in the user's own data folder."""
    assert expected == str(default_data_directory(environment))
    assert expected == str(load(environment=environment).data)


def test_the_data_directory_in_a_home(monkeypatch, tmp_path):
    """Without any variable it lies below the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))

    assert tmp_path / ".local" / "share" / "tidings" == default_data_directory({})


# -- values ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "toml", "text", "value"),
    [
        ("fetch.user_agent", '"Wide Ünïcode"', "Wide Ünïcode", "Wide Ünïcode"),
        ("fetch.host_connections", "3", "3", 3),
        ("fetch.host_connections", "3.0", "3", 3),
        ("fetch.host_gap_seconds", "2", "2", 2.0),
        ("fetch.host_gap_seconds", "0.5", "5e-1", 0.5),
        ("fetch.robots", "false", "Off", False),
        ("fetch.robots", "true", "yes", True),
        ("fetch.allow_networks", '["127.0.0.0/8", "::1/128"]', "127.0.0.0/8, ::1/128", ("127.0.0.0/8", "::1/128")),
        ("fetch.allow_networks", "[]", "", ()),
        (
            "budget.classes",
            '["a: 5 per hour", "b : 0.5 per week"]',
            "a: 5 per hour, b : 0.5 per week",
            ("a: 5 per hour", "b : 0.5 per week"),
        ),
    ],
)
def test_a_file_and_a_variable_say_the_same(tmp_path, name, toml, text, value):
    """A value in TOML and its text in the environment have one meaning and one type."""
    section, key = name.split(".")
    from_file = load_settings(tmp_path, f"[{section}]\n{key} = {toml}\n").value(name)
    from_variable = load_settings(tmp_path, environment={ROWS[name].variable: text}).value(name)

    assert (value, type(value)) == (from_file, type(from_file)) == (from_variable, type(from_variable))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("host_gap_seconds = -1", "expected a number, at least 0"),
        ('host_gap_seconds = "soon"', "expected a number, at least 0"),
        ("host_gap_seconds = nan", "expected a number, at least 0"),
        ("host_gap_seconds = inf", "expected a number, at least 0"),
        ("host_gap_seconds = true", "expected a number, at least 0"),
        ("host_gap_seconds = [1]", "expected a number, at least 0"),
        ("host_gap_seconds = 2024-01-01", "expected a number, at least 0"),
        ("host_connections = 17", "expected a whole number, at least 1 and at most 16"),
        ("host_connections = 1.5", "expected a whole number, at least 1 and at most 16"),
        ("host_connections = inf", "expected a whole number, at least 1 and at most 16"),
        ('host_connections = "2.0"', "expected a whole number, at least 1 and at most 16"),
        (f"max_body_bytes = 1e{400}", "expected a whole number, at least 1"),
        ("robots = 2", "expected true or false"),
        ('robots = "maybe"', "expected true or false"),
        ("user_agent = 3", "expected a text"),
        ("allow_networks = 3", "expected texts"),
        ("allow_networks = [3]", "expected texts"),
        ('allow_networks = ["example.org"]', "does not appear to be an IPv4 or IPv6 network"),
        ('allow_networks = ["127.0.0.1/8"]', "has host bits set"),
    ],
)
def test_an_impossible_value_is_refused(tmp_path, line, expected):
    """The message names the file, the setting, the value and what is expected."""
    message = explain_refusal(tmp_path, f"[fetch]\n{line}\n")

    assert message.startswith(f"{tmp_path}/tidings.toml: fetch.{line.split()[0]} cannot be ")
    assert expected in message


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ('["gentle"]', "expected NAME: NUMBER per hour, day or week, such as \"gentle: 500 per day\"; found 'gentle'"),
        ('["gentle: 5 per month"]', "expected NAME: NUMBER per hour, day or week"),
        ('["gentle: 0 per day"]', "expected NAME: NUMBER per hour, day or week"),
        ('["7up: 5 per day"]', "expected NAME: NUMBER per hour, day or week"),
        ('["a: 5 per day", "a: 6 per day"]', "the class a cannot be defined: it exists already"),
        ('["default: 5 per day"]', "budget.polls_per_day sets it"),
    ],
)
def test_an_impossible_class_is_refused(tmp_path, classes, expected):
    """A class has a name that a sentinel can say, and allows something."""
    assert expected in explain_refusal(tmp_path, f"[budget]\nclasses = {classes}\n")


@pytest.mark.parametrize(
    "text", ["a: 1 per day", "a: 24 per day", "a: 500 per day", "a: 0.5 per hour", "a: 5000 per week"]
)
def test_a_class_never_gives_more_than_it_says(text):
    """From full, whoever takes all there is at every moment gets no more in any period than the number that was said."""
    (own,) = Settings(budget=BudgetSettings(classes=(text,))).budget.map_names().values()
    period = {"hour": 3_600, "day": 86_400, "week": 604_800}[own.period]
    flowed = own.rate_per_second * period

    assert 1 <= own.burst
    assert own.polls == pytest.approx(own.burst + flowed - 1)
    assert own.rate_per_second > 0


def test_classes_come_the_most_generous_first():
    """So that a page of two sentinels is paid by the larger budget."""
    budget = BudgetSettings(classes=("small: 9 per day", "big: 10 per hour", "also: 240 per day"))

    assert ["also", "big", "small"] == list(budget.map_names())


@pytest.mark.parametrize(
    ("per_day", "burst", "expected"),
    [(50_000, 0, 2_000), (2_400, 0, 100), (100, 0, 100 / 24), (0, 0, 1), (100, 2_000, 2_000), (100, 0.5, 1)],
)
def test_a_new_budget_holds_the_requests_of_an_hour(per_day: float, burst: float, expected: float):
    """A first day allows little more than a day's budget, unless `budget.burst` says so."""
    assert expected == BudgetSettings(polls_per_day=per_day, burst=burst).capacity


@pytest.mark.parametrize("name", [name for name in NUMBERS if ROWS[name].least is not None])
def test_the_least_value_is_allowed_and_less_is_not(tmp_path, name):
    """A bound itself is a value that can be given."""
    least = ROWS[name].least
    assert least is not None

    assert least == load_settings(tmp_path, flags={name: f"{least:g}"}).value(name)
    assert f"at least {least:g}" in explain_refusal(tmp_path, flags={name: f"{least - 1:g}"})


@pytest.mark.parametrize("name", [name for name in NUMBERS if ROWS[name].most is not None])
def test_the_most_value_is_allowed_and_more_is_not(tmp_path, name):
    """A bound itself is a value that can be given."""
    most = ROWS[name].most
    assert most is not None

    assert most == load_settings(tmp_path, flags={name: f"{most:g}"}).value(name)
    assert f"at most {most:g}" in explain_refusal(tmp_path, flags={name: f"{most + 1:g}"})


def test_a_secret_is_not_repeated(tmp_path):
    """A message about a secret does not show it."""
    message = explain_refusal(tmp_path, "[notify]\nwebhook_secret = 314159\n")

    assert message.startswith(f"{tmp_path}/tidings.toml: notify.webhook_secret cannot be the value")
    assert "314159" not in message


# -- what is unknown ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ("[fetcher]\nrobots = true\n", "there is no section [fetcher]; there are: fetch, budget"),
        ("robots = true\n", "there is no section [robots]"),
        ("fetch = 3\n", "fetch is a section; write [fetch] on a line of its own"),
        ("[fetch]\nrobot = true\n", "there is no setting fetch.robot"),
        ("[fetch\n", "is not a TOML file"),
    ],
)
def test_an_unknown_key_of_the_file_is_an_error(tmp_path, toml, expected):
    """Nothing in the file is passed over in silence."""
    assert expected in explain_refusal(tmp_path, toml)


@pytest.mark.parametrize(
    "variable",
    ["TIDINGS_FETCH_ROBOT", "TIDINGS_FETCH", "TIDINGS_STORE_URI", "TIDINGS_FECTH_ROBOTS", "TIDINGS_", "TIDINGS_X"],
)
def test_an_unknown_variable_is_an_error(tmp_path, variable):
    """A variable that begins like a setting and is none was meant as one."""
    assert f"{variable} is not a setting" in explain_refusal(tmp_path, environment={variable: "1"})


@pytest.mark.parametrize(
    "variable",
    ["TIDINGS_DATA_SETS", "TIDINGS_PORT", "TIDINGS_PORT_80_TCP_ADDR", "TIDINGS_SERVICE_HOST", "tidings_fetch_robots"],
)
def test_other_variables_are_left_alone(tmp_path, variable):
    """What others put into the environment (Kubernetes names its services so) is not ours to judge."""
    assert load(tmp_path, environment={}) == load(tmp_path, environment={variable: "1"})


def test_an_unknown_flag_is_an_error(tmp_path):
    """A flag that names no setting is refused."""
    assert "there is no setting fetch.robot" in explain_refusal(tmp_path, flags={"fetch.robot": "1"})


def test_a_configuration_that_cannot_be_read(tmp_path):
    """A file that was named must be there, must be a file, and must be text."""
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    messages = []
    for path in (tmp_path / "missing.toml", tmp_path, binary):
        with pytest.raises(SettingError) as caught:
            load(tmp_path, path, environment={})
        messages.append(str(caught.value))

    assert f"there is no configuration file {tmp_path}/missing.toml" == messages[0]
    assert f"{tmp_path} cannot be read: Is a directory" == messages[1]
    assert messages[2].startswith(f"{binary} is not a TOML file")


# -- commands ----------------------------------------------------------------------------


@pytest.mark.parametrize("section", ["fetch", "events"])
@pytest.mark.parametrize("value", ["true", '"true"', '"TRUE"', '"yes"', '"on"', '"1"', "1"])
@pytest.mark.parametrize(("mode", "folder"), [(0o666, 0o700), (0o660, 0o700), (0o600, 0o777), (0o600, 0o770)])
def test_a_file_that_others_can_write_allows_no_commands(tmp_path, section, value, mode, folder):
    """Neither file nor folder, however it is written; the message says which right to take away."""
    file = tmp_path / "tidings.toml"
    file.write_text(f"[{section}]\nallow_commands = {value}\n", encoding="utf-8")
    file.chmod(mode)
    tmp_path.chmod(folder)
    with pytest.raises(SettingError, match=r"other users can write to it.*chmod go-w"):
        load(tmp_path, environment={})
    tmp_path.chmod(0o700)
    file.chmod(0o644)

    assert load(tmp_path, environment={}).value(f"{section}.allow_commands")


@pytest.mark.parametrize("value", ["false", '"no"', "0"])
def test_a_file_that_others_can_write_may_refuse_commands(tmp_path, value):
    """Nothing runs by it."""
    file = tmp_path / "tidings.toml"
    file.write_text(f"[events]\nallow_commands = {value}\n", encoding="utf-8")
    file.chmod(0o666)

    assert not load(tmp_path, environment={}).events.allow_commands


def test_a_file_of_another_user_allows_no_commands(tmp_path, monkeypatch):
    """It is that user's to say which commands run."""
    (tmp_path / "tidings.toml").write_text("[fetch]\nallow_commands = true\n", encoding="utf-8")
    (tmp_path / "tidings.toml").chmod(0o600)
    owner = tmp_path.stat().st_uid
    monkeypatch.setattr("os.geteuid", lambda: owner + 1)
    if owner == 0:
        assert load(tmp_path, environment={}).fetch.allow_commands
    else:
        with pytest.raises(SettingError, match="belongs to another user"):
            load(tmp_path, environment={})


def test_a_flag_cannot_allow_commands(tmp_path):
    """The environment can."""
    assert "TIDINGS_FETCH_ALLOW_COMMANDS" in explain_refusal(tmp_path, flags={"fetch.allow_commands": "true"})
    assert load_settings(tmp_path, environment={"TIDINGS_FETCH_ALLOW_COMMANDS": "true"}).fetch.allow_commands


def test_a_secret_is_read_from_the_file_that_its_variable_names(tmp_path):
    """The line end behind it is no part of it; of both variables neither is preferred unasked."""
    file = tmp_path / "token"
    file.write_text("c4nary \n")
    given = {"TIDINGS_SERVE_TOKEN_FILE": str(file)}

    assert "c4nary " == load(tmp_path, environment=given).serve.token
    with pytest.raises(SettingError, match="both set"):
        load(tmp_path, environment={**given, "TIDINGS_SERVE_TOKEN": "x"})


@pytest.mark.parametrize(
    ("variable", "content", "text"),
    [
        ("TIDINGS_SERVE_TOKEN_FILE", None, "cannot be read: No such file or directory"),
        ("TIDINGS_SERVE_TOKEN_FILE", b"\xff\xfe", "it is not in UTF-8"),
        ("TIDINGS_SERVE_TOKEN_FILE", b"\n", "which is empty"),
        ("TIDINGS_SERVE_PORT_FILE", b"1", "is not a setting"),
    ],
)
def test_a_file_of_a_secret_that_cannot_be_read_is_named(tmp_path, variable, content, text):
    """Only secrets are read from files."""
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(SettingError, match=text):
        load(tmp_path, environment={variable: str(file)})


@pytest.mark.parametrize("name", ["detect.second_looks", "detect.second_polls"])
def test_renamed_setting_has_both_names(tmp_path, name):
    """A file, a variable and a flag of an earlier version have the same effect as before."""
    section, key = name.split(".")
    (tmp_path / "tidings.toml").write_text(f"[{section}]\n{key} = false\n", encoding="utf-8")
    of_file = load(tmp_path, environment={})
    of_variable = load(tmp_path / "other", environment={f"TIDINGS_{name.replace('.', '_').upper()}": "false"})
    of_flag = load(tmp_path / "other", environment={}, flags={name: "false"})

    assert [False] * 3 == [each.detect.second_polls for each in (of_file, of_variable, of_flag)]
