#!/usr/bin/env bash
# Builds the extension with AddressSanitizer and UndefinedBehaviorSanitizer and runs the Python
# tests on it, in the active environment, which keeps its own build of ttlg. Arguments go to pytest.
set -euo pipefail

cd "$(dirname "$0")/.."
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
pip install -q --no-deps --target "$site" \
  -C cmake.define.TTLG_SANITIZE=address,undefined -C cmake.define.TTLG_CUDA=OFF \
  -C build-dir=build/sanitize -C cmake.build-type=RelWithDebInfo -C install.strip=false .

# Not a pipe into `grep -q`, which stops at the first match: under pipefail, ldd may then fail.
libraries=$(ldd "$site"/ttlg/_core*.so)
[[ $libraries == *libasan* ]] || { echo "the extension is not sanitized" >&2; exit 1; }

# Python itself is not built with the sanitizer, so its runtime is loaded first; what Python and
# NumPy keep until the process ends is no leak of ours. The allocator must not refuse huge requests
# that NumPy answers with MemoryError.
runtime=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)
LD_PRELOAD=$runtime PYTHONPATH=$site PYTHONMALLOC=malloc HYPOTHESIS_PROFILE=brief \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_segv=0 \
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  python -m pytest -q -p no:cacheprovider -m "not slow" "$@"
