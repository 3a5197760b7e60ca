"""What `import ttlg` costs: programs that never use a part need not load it."""

RARELY_USED = {"html", "matplotlib", "pathlib", "random", "tempfile", "tqdm", "urllib.parse"} | {
    f"ttlg._{part}" for part in ("calibrate.run", "cli", "files.npy", "plan.text", "tune")
}


def test_modules_that_few_programs_need_are_not_imported(run_python):
    result = run_python("""
        import sys
        import numpy

        before = set(sys.modules)
        import ttlg

        print(*set(sys.modules) - before)
    """)
    imported = set(result.stdout.split())
    assert "ttlg._models" in imported, result.stderr
    assert not imported & RARELY_USED
