import asyncio
from types import SimpleNamespace
from typing import Any

from tidings.cli.run import check
from tidings.cli.run.check import _Waiting


def test_wait_is_printed_once_until_it_changes(capsys):
    """Without a terminal too: a user who runs `check` by cron can read why it takes long (S-7)."""
    say = _Waiting()
    for text in ("waiting for a", "waiting for a", "waiting for b"):
        say(text)

    assert "tidings: waiting for a\ntidings: waiting for b\n" == capsys.readouterr().err


def test_what_is_committed_together_is_read_and_printed_at_once(monkeypatch, capsys):
    """Five hundred pages that are stored in twenty commits are not five hundred reads and writes."""
    reads = []

    class Database:
        def read(self, function: Any, *given: Any) -> Any:
            reads.append(len(given[0]))
            return function(None, *given)

    def read_results(_: Any, units: list[Any]) -> list[Any]:
        return [check._Results([(unit.poll, f"http://a.example/{unit.poll.id}")], []) for unit in units]

    async def commit(*numbers: int) -> None:
        for number in numbers:
            unit: Any = SimpleNamespace(poll=SimpleNamespace(id=number, outcome="unchanged", page_id=number))
            report.note(unit)
        await asyncio.sleep(0)

    monkeypatch.setattr(check, "_read_results", read_results)
    database: Any = Database()
    report = check._Report(database, as_json=False, is_quiet=False)
    asyncio.run(commit(1, 2, 3))
    asyncio.run(commit(4))

    assert [3, 1] == reads
    assert [f"unchanged  http://a.example/{number}" for number in (1, 2, 3, 4)] == capsys.readouterr().out.splitlines()
