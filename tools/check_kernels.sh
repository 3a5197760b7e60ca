#!/usr/bin/env bash
# Checks in the kernels' PTX what the compiler's own warnings do not say: no integer division
# and nothing in local memory (TTLG, section IV-B). Spills are errors of the build itself.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v nvcc >/dev/null; then
  echo "nvcc is not on the PATH: the kernels were not checked"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for source in cpp/cuda/{kernels,inplace}/*.cu; do
  nvcc -std=c++20 --expt-relaxed-constexpr -I cpp -arch=compute_90 -ptx -o "$work/kernel.ptx" "$source"
  kernels=$(grep -cE '\.entry' "$work/kernel.ptx")
  if grep -nE '\b(div|rem)\.[us]|\b(ld|st)\.local' "$work/kernel.ptx"; then
    echo "$source: these instructions divide, or use local memory" >&2
    exit 1
  fi
  printf '%-45s %3d kernels: no division, no local memory\n' "$source" "$kernels"
done
