"""Generated functions, compiled for every instruction set and run, permute every byte."""

import itertools
import random
import re
import subprocess

import pytest

from ttlg import _core

from .compiled import Case, compile_program, compiler, is_arm, runner, source

GENTT_SHAPES = (
    (2,) * 6,
    (2,) * 10,
    (8, 32, 32, 4),
    (4, 4, 8, 8, 4, 4),
    (7, 32, 32, 3),
    (5, 3, 7, 8, 4, 4),
)


def random_case(generator):
    """Draw a case of rank 2 to 16: identities, reversals and mixed maps."""
    rank = generator.randint(2, 16)
    pool = generator.choice(
        ((2,), (2, 4, 8), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17), (3, 5, 7), (2, 3, 4), (16, 33, 5, 2))
    )
    shape, elements = [], 1
    for _ in range(rank):
        extent = generator.choice(pool)
        shape.append(extent if elements * extent <= 60_000 else 1)
        elements *= shape[-1]
    axes = list(range(rank))
    if generator.random() < 0.2:
        axes.reverse()
    elif generator.random() < 0.95:
        generator.shuffle(axes)
    itemsize = generator.choice((1, 2, 3, 4, 4, 6, 8, 8, 12, 16))
    return Case(tuple(shape), tuple(axes), itemsize, generator.randint(1, 3))


def special_cases():
    yield Case((), (), 4)
    yield Case((1, 1), (1, 0), 2)
    yield Case((5, 0, 3), (2, 0, 1), 4)
    yield Case((7,), (0,), 1)
    yield Case((3, 5), (1, 0), 1000)
    yield Case((2,) * 20, tuple(range(19, -1, -1)), 1)
    yield Case((1,) * 60 + (5, 7, 1, 9), tuple(range(63, -1, -1)), 2)
    for shape in GENTT_SHAPES:
        yield Case(shape, tuple(reversed(range(len(shape)))), 4)
    for channels, itemsize in itertools.product((2, 3, 4), (1, 2, 4, 8)):
        yield Case((100, channels), (1, 0), itemsize)
        yield Case((channels, 100), (1, 0), itemsize)


def skip_unless_runs(isa):
    if runner(isa) is None or compiler(isa) is None:
        pytest.skip(f"nothing here compiles and runs {isa}")


@pytest.mark.parametrize("isa", _core.isas())
def test_functions_permute(isa, tmp_path):
    skip_unless_runs(isa)
    generator = random.Random(isa)
    cases = [*special_cases(), *(random_case(generator) for _ in range(130))]
    program = compile_program(source(cases, isa), isa, tmp_path, compiler(isa), "-O1")
    run = subprocess.run([*runner(isa), program], check=False, capture_output=True, text=True)
    wrong = [cases[int(number)] for number in re.findall(r"wrong: case (\d+)", run.stdout)]
    assert not wrong
    assert run.returncode == 0, run.stderr
    assert f"{len(cases)} cases, 0 wrong" in run.stdout


@pytest.mark.parametrize("isa", [isa for isa in _core.isas() if not is_arm(isa)])
def test_functions_stay_in_their_arrays(isa, tmp_path):
    """What is read after the last array, AddressSanitizer sees."""
    skip_unless_runs(isa)
    generator = random.Random(f"{isa}, edges")
    cases = [random_case(generator) for _ in range(30)]
    flags = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    program = compile_program(source(cases, isa), isa, tmp_path, compiler(isa), *flags)
    run = subprocess.run([*runner(isa), program], check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("isa", [isa for isa in _core.isas() if not is_arm(isa)])
def test_clang_takes_them(isa, tmp_path):
    if compiler(isa, "clang++") is None or runner(isa) is None:
        pytest.skip("no Clang here")
    generator = random.Random(f"{isa}, clang")
    cases = [*special_cases(), *(random_case(generator) for _ in range(20))]
    program = compile_program(source(cases, isa), isa, tmp_path, compiler(isa, "clang++"), "-O1")
    assert subprocess.run([*runner(isa), program], check=False, capture_output=True).returncode == 0
