#!/usr/bin/env bash
# Verifies the CUDA engine on a machine that has a GPU; docs/hardware.md says what the stages do.
# Needs nvcc, the driver, and a python3 with pip, CMake, Ninja, pybind11, scikit-build-core, pytest,
# pytest-timeout, hypothesis, PyTorch and CuPy (JAX if it is to take part); no network.
set -uo pipefail

readonly all_stages=(build test sanitize calibrate bench)
readonly limit=480 # seconds that a stage may take

usage() {
  cat <<EOF
usage: tools/gpu_verify.sh [--dry-run] OUTDIR [stage ...]
Stages, by default all in this order: ${all_stages[*]}
Writes OUTDIR/STAGE.json for each, the fitted device model and gpu_verify.log.
Exit status: 0 all passed, 1 a stage failed, 2 wrong usage or no nvcc, GPU or Python package.
EOF
}

refuse() {
  echo "gpu_verify: $1" >&2
  exit 2
}

dry_run=false
arguments=()
for argument in "$@"; do
  case $argument in
    --dry-run) dry_run=true ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && refuse "unknown option $argument" ;;
    *) arguments+=("$argument") ;;
  esac
done
((${#arguments[@]})) || { usage >&2 && refuse "no OUTDIR given"; }
[[ " ${all_stages[*]} " != *" ${arguments[0]} "* ]] ||
  refuse "the first argument is OUTDIR, and ${arguments[0]} is a stage"
stages=("${arguments[@]:1}")
((${#stages[@]})) || stages=("${all_stages[@]}")
for stage in "${stages[@]}"; do
  [[ " ${all_stages[*]} " == *" $stage "* ]] ||
    refuse "unknown stage $stage; choose of ${all_stages[*]}"
done

# Names of stages and of files in OUTDIR are passed on to commands that run from the checkout.
outdir=$(realpath -m "${arguments[0]}")
cd "$(dirname "$0")/.." || exit 2
site=$PWD/build/gpu/site

export PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH}
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export XLA_PYTHON_CLIENT_PREALLOCATE=false # leave the GPU's memory to the other libraries
[[ -d /usr/local/cuda/bin ]] && PATH=$PATH:/usr/local/cuda/bin # nvcc, compute-sanitizer

# Prints a command in a dry run, else runs it for as long as its stage has.
run() {
  if $dry_run; then
    printf '  %s\n' "$*"
  else
    printf '+ %s\n' "$*"
    local left=$((deadline - SECONDS))
    timeout --kill-after=10 $((left > 1 ? left : 1)) "$@"
  fi
}

stage_build() {
  run rm -rf build/gpu &&
    run python3 -m pip install --no-index --no-build-isolation --no-deps --target "$site" \
      -C build-dir=build/gpu/cmake -C cmake.build-type=Release -C install.strip=false \
      -C cmake.define.TTLG_CUDA=ON -C "cmake.define.CMAKE_CUDA_ARCHITECTURES=$architecture" \
      -C cmake.define.CMAKE_CUDA_FLAGS=-lineinfo .
}

stage_test() {
  run python3 -m pytest tests/gpu -q -p no:cacheprovider --junitxml "$work/junit.xml"
}

# Each tool runs the same cases; all of them run, whatever the ones before found.
stage_sanitize() {
  local tool failed=0
  for tool in memcheck racecheck initcheck; do
    run compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 \
      --log-file "$work/$tool.log" python3 tests/gpu/sanitize_cases.py || failed=1
  done
  return $failed
}

stage_calibrate() {
  run python3 -m ttlg.benchmarks.gpu.calibrate --budget 360 --outdir "$outdir" \
    --json "$work/results.json"
}

stage_bench() {
  run python3 -m ttlg.benchmarks.gpu --sample 40 --budget 400 --json "$work/results.json"
}

if $dry_run; then
  work='$work' architecture='$architecture'
  echo "writes to $outdir; each stage ends within $limit seconds"
  for stage in "${stages[@]}"; do
    echo "$stage:"
    "stage_$stage"
  done
  exit 0
fi

command -v nvcc >/dev/null || refuse "no nvcc: put the CUDA toolkit's bin directory on the PATH"
IFS=, read -r device driver capability < <(
  nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null
) || refuse "no GPU: nvidia-smi finds none"
[[ $capability =~ ^\ *[0-9]+\.[0-9]+$ ]] || refuse "no GPU: nvidia-smi says '$device'"
architecture=${capability//[ .]/}
for package in pip pytest pytest_timeout hypothesis scikit_build_core pybind11 numpy torch cupy; do
  python3 -c "import importlib.util as u, sys; sys.exit(u.find_spec('$package') is None)" ||
    refuse "python3 has no package $package"
done

commit=$(git describe --always --abbrev=40 --exclude='*' --dirty 2>/dev/null) || commit=${TTLG_COMMIT:-unknown}
export TTLG_COMMIT=$commit
mkdir -p "$outdir" || exit 2
log=$outdir/gpu_verify.log
: >"$log" || exit 2
failed=0

# Runs a stage and records what came of it.
run_stage() {
  local stage=$1 start=$SECONDS status
  deadline=$((SECONDS + limit))
  work=$(mktemp -d)
  printf '=== %s (commit %s, %s)\n' "$stage" "$commit" "$device" | tee -a "$log"
  "stage_$stage" >"$work/log" 2>&1
  status=$?
  cat "$work/log" >>"$log"
  ((status == 0)) || tail -n 40 "$work/log"
  python3 tools/gpu_record.py record "$outdir" "$stage" "$work" --status "$status" \
    --seconds $((SECONDS - start)) --commit "$commit" --device "$device" --driver "${driver# }" ||
    failed=1
  rm -rf "$work"
}

# The later stages need what the first one builds.
if [[ ! -d $site/ttlg && ${stages[0]} != build ]]; then run_stage build; fi
for stage in "${stages[@]}"; do run_stage "$stage"; done

echo
python3 tools/gpu_record.py table "$outdir" "${stages[@]}" | tee -a "$log"
exit $failed
