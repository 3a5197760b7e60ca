"""Record for tools/gpu_verify.sh what a stage did, as JSON, and print the table of all stages.

``record`` reads what the stage left in its folder: ``log``, the logs of compute-sanitizer, pytest's
``junit.xml``, or ``results.json``. ``table`` reads the records. ``check`` looks for packages.
"""

import argparse
import importlib.util
import json
import re
import sys
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

_TIMED_OUT = (124, 137)  # the exit status of timeout(1), and of what it had to kill
_LISTED = 20  # failing tests in a record, and lines of a log


# What pytest -v prints when a test has ended.
_OUTCOME = re.compile(r"^(\S+\.py::.+?) (PASSED|FAILED|ERROR|SKIPPED)\b")


def _text(path: Path) -> str:
    """Read what a program that may have been killed has printed."""
    return path.read_text(errors="replace")


def _tests(junit: Path) -> dict[str, Any]:
    """Count the outcomes of pytest; tests that did not run prove nothing."""
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    if suite is None:
        raise ValueError(f"{junit} holds no test suite")
    count = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
    failing = [
        f"{case.get('classname')}::{case.get('name')}"
        for case in suite.iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    ]
    reasons = {skip.get("message", "") for skip in suite.iter("skipped")}
    passed = count["tests"] - count["failures"] - count["errors"] - count["skipped"]
    return {
        **count,
        "passed": passed,
        "failing": failing[:_LISTED],
        "skip_reasons": sorted(reasons),
        "table": [f"{passed} passed, {len(failing)} failed, {count['skipped']} skipped"],
        "ok": passed > 0 and not failing,
    }


def _tests_until(log: Path) -> dict[str, Any]:
    """Count the outcomes that pytest has printed before it was killed or crashed."""
    lines = [line for line in _text(log).splitlines() if re.match(r"\S+\.py::", line)]
    ended = [found for found in map(_OUTCOME.match, lines) if found]
    if not lines:
        raise ValueError("pytest has run no test")
    count = Counter(found[2] for found in ended)
    failing = [found[1] for found in ended if found[2] in ("FAILED", "ERROR")]
    last = lines[-1].split(" PASSED")[0].strip()
    return {
        "passed": count["PASSED"],
        "skipped": count["SKIPPED"],
        "failing": failing[:_LISTED],
        "last": last,
        "table": [
            f"{count['PASSED']} passed, {len(failing)} failed, {count['SKIPPED']} skipped",
            f"ended without a report in {last}",
        ],
        "ok": False,
    }


def _sanitizer(logs: list[Path]) -> dict[str, Any]:
    """Read compute-sanitizer's last line of each tool: the number of its findings."""
    tools = {}
    for log in logs:
        text = _text(log)
        found = re.search(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", text)
        tools[log.stem] = {
            "findings": int(found[1]) if found else None,
            "log": text.splitlines()[:_LISTED],
        }
    rows = [
        f"{name}: {'no summary' if tool['findings'] is None else tool['findings']}"
        for name, tool in tools.items()
    ]
    ok = bool(tools) and all(tool["findings"] == 0 for tool in tools.values())
    return {"tools": tools, "table": [", ".join(rows) or "no tool ran"], "ok": ok}


def _build(log: Path, site: Path) -> dict[str, Any]:
    size = sum(path.stat().st_size for path in site.glob("ttlg/_core*.so"))
    warnings = sum("warning" in line.lower() for line in _text(log).splitlines())
    return {
        "extension_bytes": size,
        "warnings": warnings,
        "table": [f"extension of {size / 1e6:.1f} MB, {warnings} lines with warnings"],
        "ok": size > 0,
    }


def results_of(stage: str, folder: Path) -> dict[str, Any]:
    """Read what a stage left; ``ok`` says whether that proves that it did its work."""
    if stage == "build":
        return _build(folder / "log", Path("build/gpu/site"))
    if stage == "test":
        junit = folder / "junit.xml"
        return _tests(junit) if junit.exists() else _tests_until(folder / "log")
    if stage == "sanitize":
        if (folder / "not_run").exists():
            reason = _text(folder / "not_run").strip()
            return {"ok": False, "not_run": reason, "table": reason.splitlines()[:_LISTED]}
        return _sanitizer(sorted(folder.glob("*check.log")))
    return {"ok": True, **json.loads((folder / "results.json").read_text())}


def _record(args: argparse.Namespace) -> int:
    try:
        results = results_of(args.stage, args.folder)
    except (OSError, ValueError, ElementTree.ParseError) as error:
        results = {"ok": False, "table": [f"left no results: {error}"]}
    passed = results.pop("ok") and args.status == 0
    not_run = results.pop("not_run", None)
    record = {
        "stage": args.stage,
        "passed": passed,
        **({"not_run": not_run} if not_run else {}),
        "timed_out": args.status in _TIMED_OUT,
        "status": args.status,
        "seconds": args.seconds,
        "commit": args.commit,
        "device": args.device,
        "driver": args.driver,
        "results": results,
    }
    if not passed:
        record["log"] = _text(args.folder / "log").splitlines()[-_LISTED:]
    (args.outdir / f"{args.stage}.json").write_text(json.dumps(record, indent=1) + "\n")
    return 0 if passed or not_run else 1


def _result(record: dict[str, Any]) -> str:
    if record["passed"]:
        return "passed"
    if "not_run" in record:
        return "not run"
    return "timed out" if record["timed_out"] else "FAILED"


def table(records: list[dict[str, Any]]) -> str:
    """Write a line for each stage, and below it the stage's own lines."""
    lines = [f"{'stage':13} {'result':10} {'seconds':>7}"]
    for record in records:
        lines.append(f"{record['stage']:13} {_result(record):10} {record['seconds']:7}")
        lines += [f"    {line}" for line in record["results"].get("table", [])]
    return "\n".join(lines)


def _print_table(args: argparse.Namespace) -> int:
    files = [args.outdir / f"{stage}.json" for stage in args.stages]
    print(table([json.loads(file.read_text()) for file in files if file.exists()]))
    return 0


def unmet(names: list[str], pyproject: str) -> list[str]:
    """Say which packages are missing, or older than the build requires them."""
    absent = [name for name in names if importlib.util.find_spec(name) is None]
    if absent:
        return [f"python3 has no package {name}" for name in absent]
    found = []
    required = re.search(r"^requires = \[(.*?)\]", pyproject, re.MULTILINE | re.DOTALL)
    for text in re.findall(r'"(.+?)"', required[1] if required else ""):
        name = re.split(r"[^\w-]", text)[0]
        if name.replace("-", "_") in names:
            from packaging.requirements import Requirement  # scikit-build-core needs it too

            version = metadata.version(name)
            if not Requirement(text).specifier.contains(version, prereleases=True):
                found.append(f"the build requires {text}, and python3 has {name} {version}")
    return found


def _check(args: argparse.Namespace) -> int:
    messages = unmet(args.names, Path("pyproject.toml").read_text())
    for message in messages:
        print(f"gpu_verify: {message}", file=sys.stderr)
    return 2 if messages else 0


def main(argv: list[str] | None = None) -> int:
    """Record a stage or print the table; the exit status says whether the stage passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    record = commands.add_parser("record")
    record.set_defaults(run=_record)
    record.add_argument("outdir", type=Path)
    record.add_argument("stage")
    record.add_argument("folder", type=Path)
    for name, kind in (("status", int), ("seconds", int)):
        record.add_argument(f"--{name}", type=kind, required=True)
    for name in ("commit", "device", "driver"):
        record.add_argument(f"--{name}", required=True)
    check = commands.add_parser("check")
    check.set_defaults(run=_check)
    check.add_argument("names", nargs="+")
    printed = commands.add_parser("table")
    printed.set_defaults(run=_print_table)
    printed.add_argument("outdir", type=Path)
    printed.add_argument("stages", nargs="+")
    args = parser.parse_args(argv)
    status: int = args.run(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
