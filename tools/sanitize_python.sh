#!/usr/bin/env bash
# Adds the extension to the build tree of the preset asan and runs Python tests on it, in the active
# environment, which keeps its own build of ttlg. Without arguments those run that reach compiled code
# which the C++ tests do not, with `others` those that reach it with what others have passed; any other
# arguments go to pytest.
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

# The test that is left out forks while other threads allocate, and GCC 12's sanitizer does not unlock
# its allocator in the child. Processes that JAX and PyTorch compile in would take half of the time.
bindings=(tests/python/{inplace,memory,transpose} tests/python/plan/test_kernels.py tests/python/interop)
others=(tests/python/{plan,sparse,threads,tune} tests/python/project/test_{config,docs,import}.py)
case ${1:-} in
  "") tests=("${bindings[@]}" --ignore-glob='*/test_torch_tracing.py'
    --ignore-glob='*/test_jax_transforms.py' --ignore-glob='*/test_gpu_cases.py') ;;
  others) tests=("${others[@]}" --ignore=tests/python/plan/test_kernels.py
    --deselect=tests/python/plan/test_predict.py::test_fork_while_other_threads_predict) ;;
  *) tests=("$@") ;;
esac

# Python itself is not built with the sanitizer, so its runtime is loaded first; what Python and
# NumPy keep until the process ends is no leak of ours. The allocator must not refuse huge requests
# that NumPy answers with MemoryError. Where memory was allocated is told by few frames, which
# take less time.
LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so) \
  PYTHONPATH=$site PYTHONMALLOC=malloc HYPOTHESIS_PROFILE=brief \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_segv=0:malloc_context_size=4 \
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  python -m pytest -q -p no:cacheprovider -n 2 --dist loadfile -m "not slow and not rotating" \
  "${tests[@]}"
