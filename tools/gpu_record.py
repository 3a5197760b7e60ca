"""Record for tools/gpu_verify.sh what a stage did, as JSON, and print the table of all stages.

``record`` reads what the stage left in its folder: ``log``, the logs of compute-sanitizer, pytest's
``junit.xml``, or ``results.json``. ``table`` reads the records.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

_TIMED_OUT = (124, 137)  # the exit status of timeout(1), and of what it had to kill
_LISTED = 20  # failing tests in a record, and lines of a log


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


def _sanitizer(logs: list[Path]) -> dict[str, Any]:
    """Read compute-sanitizer's last line of each tool: the number of its findings."""
    tools = {}
    for log in logs:
        text = log.read_text()
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
    warnings = sum("warning" in line.lower() for line in log.read_text().splitlines())
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
        return _tests(folder / "junit.xml")
    if stage == "sanitize":
        return _sanitizer(sorted(folder.glob("*check.log")))
    return {"ok": True, **json.loads((folder / "results.json").read_text())}


def _record(args: argparse.Namespace) -> int:
    try:
        results = results_of(args.stage, args.folder)
    except (OSError, ValueError, ElementTree.ParseError) as error:
        results = {"ok": False, "table": [f"left no results: {error}"]}
    passed = args.status == 0 and results.pop("ok")
    record = {
        "stage": args.stage,
        "passed": passed,
        "timed_out": args.status in _TIMED_OUT,
        "status": args.status,
        "seconds": args.seconds,
        "commit": args.commit,
        "device": args.device,
        "driver": args.driver,
        "results": results,
    }
    if not passed:
        record["log"] = (args.folder / "log").read_text().splitlines()[-_LISTED:]
    (args.outdir / f"{args.stage}.json").write_text(json.dumps(record, indent=1) + "\n")
    return 0 if passed else 1


def table(records: list[dict[str, Any]]) -> str:
    """Write a line for each stage, and below it the stage's own lines."""
    lines = [f"{'stage':10} {'result':10} {'seconds':>7}"]
    for record in records:
        words = "passed" if record["passed"] else "timed out" if record["timed_out"] else "FAILED"
        lines.append(f"{record['stage']:10} {words:10} {record['seconds']:7}")
        lines += [f"    {line}" for line in record["results"].get("table", [])]
    return "\n".join(lines)


def _print_table(args: argparse.Namespace) -> int:
    records = [json.loads((args.outdir / f"{stage}.json").read_text()) for stage in args.stages]
    print(table(records))
    return 0


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
    printed = commands.add_parser("table")
    printed.set_defaults(run=_print_table)
    printed.add_argument("outdir", type=Path)
    printed.add_argument("stages", nargs="+")
    args = parser.parse_args(argv)
    status: int = args.run(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
