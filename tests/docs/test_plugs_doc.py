"""docs/howto/assistants.md and home-assistant.md name what there is."""

import contextlib
import re
from pathlib import Path

from tidings.plugs.assistant import LONGEST, UNTRUSTED, Tools
from tidings.plugs.home_assistant import Device, read_broker
from tidings.settings import Settings, table
from tidings.storage.db.database import open_database

DOCS = Path(__file__).parents[2] / "docs" / "howto"
ASSISTANTS = (DOCS / "assistants.md").read_text(encoding="utf-8")
HOME = (DOCS / "home-assistant.md").read_text(encoding="utf-8")


def test_every_tool_is_named(tmp_path):
    """The table lists the tools that there are; the field and its length are those of the code."""
    with contextlib.closing(open_database(Settings(data=tmp_path))) as database:
        tools = {tool.__name__ for tool in Tools(Settings(data=tmp_path), database, may_edit=True).list_all()}
    rows = "".join(re.findall(r"^\| (`.*?) \|", ASSISTANTS, re.MULTILINE))

    assert tools == set(re.findall(r"`(\w+)`", rows))
    assert f"`{UNTRUSTED}`, cut to {LONGEST:,} characters" in ASSISTANTS


def test_every_entity_is_named():
    """The table lists the entities; the setting is one, and its value is read."""
    announced = {message["name"] for _, message in Device("node").announce(1, "NAME")}
    (url,) = re.findall(r'mqtt_url = "(.*)"', HOME)

    assert announced == set(re.findall(r"`(NAME \w+)`", HOME))
    assert "192.168.1.5" == read_broker(url).host
    assert "serve.mqtt_url" in {row.name for row in table()}
