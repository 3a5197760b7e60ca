"""A checkout of the tools alone, with programs that stand in for those of a machine with a GPU."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

STAND_INS = Path(__file__).with_name("stand_ins")
# What the stand-ins for python3 and for compute-sanitizer run, in the shell.
PARTS = {
    "check": "",
    "build": "mkdir -p build/gpu/site/ttlg && echo made >build/gpu/site/ttlg/_core.x.so",
    "test": "",
    "calibrate": 'write-results "$@"',
    "bench": 'write-results "$@"',
    "probe": "",
    "memcheck": "",
    "racecheck": "",
    "initcheck": "",
}


class Machine:
    """A checkout with the tools alone, and the programs that they call."""

    def __init__(self, folder):
        self.folder, self.out = folder, folder / "out"
        shutil.copytree(STAND_INS, folder / "bin")
        (folder / "parts").mkdir()
        (folder / "tools").mkdir()
        for tool in ROOT.glob("tools/gpu_*"):
            shutil.copy(tool, folder / "tools")
        shutil.copy(ROOT / "pyproject.toml", folder)
        self.run_parts()

    def program(self, name, script):
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def run_parts(self, **parts):
        """Let the stand-ins run these scripts, and the usual ones for all other parts."""
        for part, script in (PARTS | parts).items():
            (self.folder / "parts" / part).write_text(script)

    def start(self, *arguments):
        return subprocess.Popen(
            # As scripts are that a shell starts in the background.
            ["env", "--ignore-signal=INT", "bash", self.folder / "tools/gpu_verify.sh", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={
                **os.environ,
                "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
                "TTLG_COMMIT": "c0ffee",
                "PARTS": str(self.folder / "parts"),
                "REAL_PYTHON": sys.executable,
            },
            start_new_session=True,
        )

    def verify(self, *stages, seconds=60, options=()):
        process = self.start("--seconds", str(seconds), *options, self.out, *stages)
        try:
            self.printed, _ = process.communicate(timeout=60)
        finally:
            process.terminate()  # and with it what hangs
        return process.returncode

    def start_and_hang(self, *stages):
        """Start the script, and return when a program says that it does not end when asked."""
        process = self.start(self.out, *stages)
        log = self.out / "gpu_verify.log"
        while not log.exists() or "deaf" not in log.read_text():
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.05)
        return process

    def record(self, stage):
        return json.loads((self.out / f"{stage}.json").read_text())

    def log(self):
        return (self.out / "gpu_verify.log").read_text()

    def left(self):
        return sorted(path.name for path in self.out.iterdir())


def has_ended(file):
    """Say whether the process with the number in a file has, or does within some seconds."""
    status = Path("/proc", file.read_text().strip(), "stat")
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if not status.exists() or status.read_text().split()[2] == "Z":
            return True
        time.sleep(0.02)
    return False
