#!/usr/bin/env bash
# check_symbols.sh BUILD_DIR: fails if the object of a SIMD level defines a weak symbol.
#
# The linker keeps one copy of a weak symbol (an inline function, an instance of a template) for the
# whole library. If that copy were the one compiled for AVX-512, code of every level would call it,
# and older processors would meet instructions that they do not have.
set -euo pipefail

mapfile -t objects < <(find "$1" -path '*ttlg_cpu.dir/cpu/simd/*' -name 'level_*.o' | sort)
((${#objects[@]})) || { echo "$1: no objects of SIMD levels found; build ttlg_cpu first" >&2; exit 1; }

leaks=0
for object in "${objects[@]}"; do
  weak=$(nm -C --defined-only "$object" | awk '$2 ~ /^[WwVvu]$/')
  if [[ -n $weak ]]; then
    printf '%s: other levels may be linked to these symbols\n%s\n' "$object" "$weak" >&2
    leaks=1
  else
    printf '%-30s no weak symbols\n' "$(basename "$object")"
  fi
done
exit "$leaks"
