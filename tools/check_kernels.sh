#!/usr/bin/env bash
# Checks in the kernels' PTX what the compiler's own warnings do not say: no integer division
# and nothing in local memory (TTLG, section IV-B). Spills are errors of the build itself. Kernels
# that use the header for users' code must need no stack and no shared memory either (Catanzaro et
# al., section 6.2).
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v nvcc >/dev/null; then
  echo "nvcc is not on the PATH: the kernels were not checked"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}

# Compiles a file to PTX with these options of nvcc, and counts its kernels.
check_ptx() {
  nvcc "${@:2}" -ptx -o "$work/kernel.ptx" "$1"
  kernels=$(grep -cE '\.entry' "$work/kernel.ptx")
  ! grep -nE '\b(div|rem)\.[us]|\b(ld|st)\.local' "$work/kernel.ptx" ||
    fail "$source: these instructions divide, or use local memory"
  printf '%-45s %3d kernels: no division, no local memory\n' "$source" "$kernels"
}

for source in cpp/cuda/kernels/{,inplace/}*.cu cpp/cuda/sparse/kernels.cu; do
  check_ptx "$source" -std=c++20 --expt-relaxed-constexpr -I cpp -arch=compute_90
done

# The benchmark's kernels, for structures of these numbers of words.
source=benchmarks/gpu/structures.cu
{
  echo "#include \"$PWD/$source\""
  for words in 1 2 3 4 5 7 8 12 16 24 31 32 48 63 64; do
    structure="Structure<$words, 4>"
    for operation in store copy gather scatter; do
      echo "template __global__ void $operation<Shuffles, $words, 4>(const $structure*, $structure*,"
      echo "const int*, int);"
    done
  done
} >"$work/structures.cu"
check_ptx "$work/structures.cu" -std=c++17 -DTHREADS=256 -I python/ttlg/include -arch=compute_80
for architecture in sm_80 sm_90; do
  nvcc -arch=$architecture -Xptxas=-v -cubin -o "$work/kernel.cubin" "$work/kernel.ptx" 2>"$work/log"
  lean=$(grep -c ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' "$work/log" || true)
  ((lean == kernels)) || fail "$source: $((kernels - lean)) kernels use the stack on $architecture"
  ! grep -n smem "$work/log" || fail "$source: these kernels use shared memory on $architecture"
  printf '%-45s %3d kernels: no stack, no shared memory on %s\n' "$source" "$lean" $architecture
done
