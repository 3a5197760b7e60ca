#!/usr/bin/env bash
# Adds the extension to the build tree of the preset asan and runs the Python tests on it, in the
# active environment, which keeps its own build of ttlg. Arguments go to pytest; without any, the
# tests run that reach compiled code.
set -euo pipefail

cd "$(dirname "$0")/.."
cmake --preset asan -DTTLG_BUILD_PYTHON=ON >/dev/null
cmake --build --preset asan -j 2 --target _core | tail -n 1
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
mkdir "$site/ttlg"
ln -s "$PWD"/python/ttlg/* "$PWD/benchmarks" "$PWD"/build/asan/cpp/bindings/_core*.so "$site/ttlg"

# Not a pipe into `grep -q`, which stops at the first match: under pipefail, ldd may then fail.
libraries=$(ldd "$site"/ttlg/_core*.so)
[[ $libraries == *libasan* ]] || { echo "the extension is not sanitized" >&2; exit 1; }

# These only pass on what other tests pass to the extension. The last forks while other threads
# allocate, and GCC 12's sanitizer does not unlock its allocator in the child.
if (($# == 0)); then
  set -- tests/python --ignore=tests/python/benchmarks --ignore=tests/python/calibrate \
    --ignore=tests/python/chunked --ignore=tests/python/cli --ignore=tests/python/npy \
    --ignore-glob='tests/python/gpu_tools/test_gpu_verify*' \
    --ignore-glob='tests/python/project/test_docs_*' \
    --ignore=tests/python/project/test_notebooks.py \
    --ignore=tests/python/project/test_packaging.py \
    --ignore=tests/python/project/test_typing.py \
    --ignore=tests/python/inplace/test_gpu_cases.py \
    --ignore=tests/python/interop/test_torch_tracing.py \
    --ignore=tests/python/interop/test_jax_transforms.py \
    --deselect=tests/python/plan/test_predict.py::test_fork_while_other_threads_predict
fi

# Python itself is not built with the sanitizer, so its runtime is loaded first; what Python and
# NumPy keep until the process ends is no leak of ours. The allocator must not refuse huge requests
# that NumPy answers with MemoryError.
runtime=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)
LD_PRELOAD=$runtime PYTHONPATH=$site PYTHONMALLOC=malloc HYPOTHESIS_PROFILE=brief \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_segv=0 \
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  python -m pytest -q -p no:cacheprovider -m "not slow" "$@"
