"""Promise: what `deploy/` and the wheel hold runs elsewhere, and with few rights."""

import json
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.services import Installation
from tidings.cli.verbs import parser_of
from tidings.settings import table

REPOSITORY = Path(__file__).parents[2]
DEPLOY = REPOSITORY / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
UNITS = ("tidings.service", "tidings-backup.service", "tidings@.service", "tidings-backup.timer")
has_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")


def steps():
    """Return the (instruction, words) of the Dockerfile, its continued lines joined."""
    text = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE))
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line]


def read_lock(path):
    """Return each package of a lock with its version."""
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ \\]+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel, as `script/release` does."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_image_keeps_the_rules():
    """Tags are fixed, the last user has no rights, commands are lists, nothing is added."""
    found = steps()
    users = [words for name, words in found if name == "USER"]
    bases = {words.split()[0] for name, words in found if name == "FROM"}

    assert ["tidings"] == users
    assert 1 == len(bases)
    assert all(re.fullmatch(r"\S+:3\.\d+-slim-\w+", base) for base in bases)
    assert not {"ADD", "ONBUILD", "MAINTAINER"} & {name for name, _ in found}
    assert all("--no-cache-dir" in words for name, words in found if name == "RUN" and "pip install" in words)
    assert all("sudo" not in words and "curl" not in words for name, words in found if name == "RUN")
    (command,) = (words for name, words in found if name == "CMD")
    (probe,) = (words.partition(" CMD ")[2] for name, words in found if name == "HEALTHCHECK")
    assert [["tidings", "serve"], "python"] == [json.loads(command), json.loads(probe)[0]]


def test_the_image_copies_what_there_is():
    """Each source of a COPY is in the repository, and each variable is a setting."""
    copied = [words.split()[:-1] for name, words in steps() if name == "COPY" and "--from" not in words]
    variables = re.findall(r"\b(TIDINGS_\w+)=", DOCKERFILE + (DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    known = {row.variable for row in table()} | {f"{row.variable}_FILE" for row in table() if row.secret}

    assert copied
    assert [] == [name for names in copied for name in names if not (REPOSITORY / name).exists()]
    assert set() == {*variables} - known - {"TIDINGS_DATA"}


def test_the_image_has_the_versions_that_are_tested():
    """The lock of the image is a part of the lock of the tests."""
    image, tested = read_lock(DEPLOY / "requirements.lock"), read_lock(REPOSITORY / "requirements.lock")

    assert image.items() <= tested.items()
    assert {"aiohttp", "numpy", "psycopg", "mcp", "aiomqtt"} <= image.keys()
    assert not {"pytest", "mypy", "scipy", "playwright"} & image.keys()


def test_the_composed_container_has_few_rights():
    """It writes to /data and /tmp only, has no capabilities, and listens to this machine."""
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]["tidings"]

    wanted = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]}
    wanted |= {"volumes": ["data:/data"], "tmpfs": ["/tmp"]}
    assert wanted == {name: service[name] for name in wanted}
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_the_composed_roles_are_those_of_the_program():
    """Each has few rights, and its command line is read by the parser."""
    services = yaml.safe_load((DEPLOY / "roles.yaml").read_text(encoding="utf-8"))["services"]
    del services["database"]
    serve = parser_of("serve")
    given = [service["command"] for service in services.values()]
    roles = [serve.parse_args(words[2:]).role for words in given if words[:2] == ["tidings", "serve"]]

    assert ["planner", "notifier", "web"] == roles
    assert all(service["read_only"] and service["cap_drop"] == ["ALL"] for service in services.values())
    assert [True, True, False] == ["healthcheck" in service for service in services.values()]


@has_systemd
def test_the_units_are_right(tmp_path):
    """No fault is found in them, and of 10 points of exposure they have 2 at most."""
    installed = [name.replace("@", "@planner") for name in UNITS]
    for name, unit in zip(UNITS, installed, strict=True):
        text = (DEPLOY / name).read_text(encoding="utf-8")
        (tmp_path / unit).write_text(text.replace("/opt/tidings/bin/tidings", sys.executable), encoding="utf-8")
    paths = [str(tmp_path / unit) for unit in installed]
    analyse = ["systemd-analyze", "--no-pager"]
    verified = subprocess.run([*analyse, "verify", "--man=no", *paths], capture_output=True, text=True, check=False)
    command = [*analyse, "security", "--offline=true", "--threshold=20", *paths[:3]]
    exposed = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (0, "") == (verified.returncode, verified.stderr)
    assert 0 == exposed.returncode, exposed.stdout[-300:]


def test_the_supervisor_is_told(tmp_path):
    """READY once it is, WATCHDOG while it lives, STOPPING at its end."""
    place = Installation(tmp_path / "data")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(tmp_path / "notify"))
        supervisor.settimeout(60)
        place.variables |= {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "600000"}
        service = place.serve()
        try:
            received = [supervisor.recv(100) for _ in range(3)]
            is_ready = service.is_ready
            service.process.terminate()
            while received[-1] != b"STOPPING=1":
                received.append(supervisor.recv(100))
        finally:
            place.close()

    assert [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"] == received[:3]
    assert is_ready


def test_the_wheel_holds_all_that_runs(wheel, tmp_path):
    """Unpacked elsewhere, it opens a database, reads the language and plays the demo."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    environment = {"PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    where = subprocess.run(
        [sys.executable, "-c", "import tidings; print(tidings.__file__)"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    demo = subprocess.run(
        [sys.executable, "-m", "tidings", "demo", "--for", "3s", "--data", str(tmp_path / "demo")],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip

    assert where.startswith(str(tmp_path / "site"))
    assert 0 == demo.returncode, demo.stderr
    assert "changes" in demo.stdout
