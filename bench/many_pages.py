"""Ten thousand pages: how long `add`, `apply`, the first `serve`, a restart, `list` and `plan` take,
each a real process.

    .venv/bin/python bench/many_pages.py [--pages 10000] [--form single|one|yaml] [--verb add|apply] [--fetch TEXT] [--hosts 250]

`single` is a file of one sentinel a page, `one` a sentinel that watches all pages, `yaml` as
`single` in the other form. The pages are on loopback addresses at which nobody answers, under the
settings that people have but for that permission. Of each step wall seconds and CPU seconds (user
and system, children included) are printed; of `serve` until it says that it is ready. `changed`
alters every sentinel by another `apply`. Other work on the machine makes wall seconds longer; CPU
seconds hardly. Modules are compiled before, as they are where Tidings is installed. Ends by itself.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.measured import cpu_seconds, descendants

PORT = 1_024  # nobody answers there
PATIENCE_SECONDS = 900
EVERYTHING = "import tidings.cli.change.apply, tidings.cli.show.listing, tidings.cli.show.plan, tidings.cli.run.serve, tidings.service.health.intents"


def statements(arguments: argparse.Namespace, fetch: str) -> tuple[str, str]:
    """Return the name and the text of the file."""
    urls = [
        f"http://127.0.{2 + n % arguments.hosts // 250}.{1 + n % arguments.hosts % 250}:{PORT}/page/{n}"
        for n in range(arguments.pages)
    ]
    if arguments.form == "one":
        return "all.sentinel", f"Create Sentinel all Using {', '.join(urls)}\n  Monitor all words\n  {fetch}\n"
    if arguments.form == "yaml":
        every = fetch.removeprefix("Fetch ")
        texts = (
            f"sentinel: page_{n}\nusing: {url}\nmonitor: all words\nfetch: {every}\ntags: [shop]\n"
            for n, url in enumerate(urls)
        )
        return "all.sentinel.yaml", "---\n".join(texts)
    texts = (
        f"Create Sentinel page_{n} Using {url}\n  Monitor all words\n  {fetch}\n  Tags shop"
        for n, url in enumerate(urls)
    )
    return "all.sentinel", ";\n".join(texts) + "\n"


def measure_verb(name: str, environment: dict[str, str], *words: str) -> None:
    """Run a verb to its end and print what it cost."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "tidings", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{name:16} wall {wall:7.2f} s   CPU {cpu:7.2f} s   {len(done.stdout.splitlines()):6} lines", flush=True)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:])
        raise SystemExit(1)


def serve_for(name: str, environment: dict[str, str], seconds: float) -> None:
    """Start the service, print what it cost until it was ready, let it run for so long, stop it."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "tidings", "serve", "--port", "0"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if "ready:" in line:
            break
    wall = time.perf_counter() - begun
    cpu = cpu_seconds([process.pid, *descendants(process.pid)])
    print(f"{name:16} wall {wall:7.2f} s   CPU {cpu:7.2f} s   {said[-1].strip() if said else '-'}", flush=True)
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.communicate(timeout=60)


def main() -> None:
    """Make the file, run each step, print its cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--hosts", type=int, default=250)
    parser.add_argument("--form", choices=["single", "one", "yaml"], default="single")
    parser.add_argument("--verb", choices=["add", "apply"], default="add")
    parser.add_argument("--fetch", default="Fetch every 1 day", help="the clause that says when to poll")
    parser.add_argument("--running", type=float, default=2.0, help="seconds that each service runs on when it is ready")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDINGS_")} | {
            "TIDINGS_DATA": f"{folder}/data",
            "TIDINGS_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
            "PYTHONUNBUFFERED": "1",
            "PYTHONPYCACHEPREFIX": f"{folder}/compiled",
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        subprocess.run([sys.executable, "-c", EVERYTHING], env=environment, check=True)
        name, text = statements(arguments, arguments.fetch)
        file = Path(folder) / name
        file.write_text(text, encoding="utf-8")
        measure_verb(arguments.verb, environment, arguments.verb, str(file))
        measure_verb("list", environment, "list")
        measure_verb("plan", environment, "plan")
        serve_for("serve, first", environment, arguments.running)
        serve_for("serve, again", environment, arguments.running)
        measure_verb("list", environment, "list")
        measure_verb("plan", environment, "plan")
        if arguments.verb == "apply":
            measure_verb("apply again", environment, "apply", str(file))
            file.write_text(statements(arguments, arguments.fetch.replace("1 day", "2 day"))[1], encoding="utf-8")
            measure_verb("apply, changed", environment, "apply", str(file))
            serve_for("serve, changed", environment, arguments.running)
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
