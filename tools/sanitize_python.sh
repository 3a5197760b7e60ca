#!/usr/bin/env bash
# Adds the extension to the build tree of the preset asan and runs the Python tests on it, in the
# active environment, which keeps its own build of ttlg. Arguments go to pytest; without any, the
# tests run that reach compiled code, in two processes at once.
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

# Python itself is not built with the sanitizer, so its runtime is loaded first; what Python and
# NumPy keep until the process ends is no leak of ours. The allocator must not refuse huge requests
# that NumPy answers with MemoryError. Where memory was allocated is told by few frames, which
# take less time.
runtime=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)
sanitized() {
  LD_PRELOAD=$runtime PYTHONPATH=$site PYTHONMALLOC=malloc HYPOTHESIS_PROFILE=brief \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_segv=0:malloc_context_size=4 \
    UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
    python -m pytest -q -p no:cacheprovider -m "not slow" "$@"
}
if (($#)); then
  sanitized "$@"
  exit
fi

# The other folders only pass on what these pass to the extension. The test that is left out forks
# while other threads allocate, and GCC 12's sanitizer does not unlock its allocator in the child.
sanitized tests/python/{inplace,interop,tune} --ignore-glob='*/test_torch_tracing.py' \
  --ignore-glob='*/test_jax_transforms.py' --ignore-glob='*/test_gpu_cases.py' \
  &>"$site/first.log" &
first=$!
status=0
sanitized tests/python/{memory,plan,sparse,threads,transpose} \
  tests/python/project/test_{config,docs,import}.py \
  --deselect=tests/python/plan/test_predict.py::test_fork_while_other_threads_predict || status=$?
wait "$first" || status=$?
cat "$site/first.log"
exit "$status"
