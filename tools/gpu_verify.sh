#!/usr/bin/env bash
# Verifies the CUDA engine on a machine that has a GPU; docs/hardware.md says what the stages do.
# Needs the driver, a python3 with NumPy, SciPy, pytest, pytest-timeout, hypothesis, PyTorch and CuPy
# (JAX if it is to take part), and to build also nvcc, pip, CMake, Ninja, pybind11 and
# scikit-build-core; no network.
set -uo pipefail

readonly default_stages=(build test sanitize calibrate bench)
readonly all_stages=("${default_stages[@]}" bench-inplace)
# Seconds that a stage may take, less where all together may not take as long.
declare -rA share=([build]=240 [test]=240 [sanitize]=240 [calibrate]=300 [bench]=300
  [bench-inplace]=300)

usage() {
  cat <<END
usage: tools/gpu_verify.sh [--dry-run] [--seconds N] [--package FILE] OUTDIR [stage ...]
Stages, by default in this order: ${default_stages[*]}
Others, which have to be named: ${all_stages[*]:${#default_stages[@]}}
Writes OUTDIR/STAGE.json for each, the fitted device model and gpu_verify.log.
  --seconds N     what all stages together may take; default 540
  --package FILE  use what an earlier call has built: its OUTDIR/ttlg-package.tar.gz
Exit status: 0 all passed or could not be run here, 1 a stage failed, 2 wrong usage or no nvcc, GPU,
Python package or package that fits.
END
}

refuse() {
  echo "gpu_verify: $1" >&2
  exit 2
}

dry_run=false seconds=540 package=
arguments=()
while (($#)); do
  case $1 in
    --dry-run) dry_run=true ;;
    --seconds) seconds=${2-} && shift ;;
    --package) package=${2-} && shift && [[ -n $package ]] || refuse "--package needs a file" ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && refuse "unknown option $1" ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || refuse "--seconds needs a number"
((${#arguments[@]})) || { usage >&2 && refuse "no OUTDIR given"; }
[[ " ${all_stages[*]} " != *" ${arguments[0]} "* ]] ||
  refuse "the first argument is OUTDIR, and ${arguments[0]} is a stage"
stages=("${arguments[@]:1}")
if ((${#stages[@]} == 0)); then
  stages=("${default_stages[@]}")
  [[ -z $package ]] || stages=("${stages[@]:1}")
fi
for stage in "${stages[@]}"; do
  [[ " ${all_stages[*]} " == *" $stage "* ]] ||
    refuse "unknown stage $stage; choose of ${all_stages[*]}"
  [[ $stage != build || -z $package ]] || refuse "--package is used instead of the stage build"
done

# Names of stages and of files in OUTDIR are passed on to commands that run from the checkout.
outdir=$(realpath -m "${arguments[0]}")
[[ -z $package ]] || package=$(realpath -m "$package")
cd "$(dirname "$0")/.." || exit 2
site=$PWD/build/gpu/site

# The later stages need what the first one builds.
if [[ -z $package && ${stages[0]} != build ]]; then
  if [[ -e $outdir/ttlg-package.tar.gz ]]; then
    package=$outdir/ttlg-package.tar.gz
  elif [[ ! -d $site/ttlg ]]; then
    stages=(build "${stages[@]}")
  fi
fi

export PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH}
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export XLA_PYTHON_CLIENT_PREALLOCATE=false # leave the GPU's memory to the other libraries
export OPENBLAS_NUM_THREADS=1 # threads only slow the fit's small matrices down
[[ -d /usr/local/cuda/bin ]] && PATH=$PATH:/usr/local/cuda/bin # nvcc, compute-sanitizer
. tools/gpu_stages.sh

# What has gone by belongs to the later stages. A tenth of its time, at most 20 seconds, is left to
# a stage to end after its programs were asked to.
give_time() {
  local each sum=0 left=$((seconds - SECONDS))
  for each in "$@"; do ((sum += share[$each])); done
  limit=$((left * share[$1] / sum))
  ((limit <= share[$1])) || limit=${share[$1]}
  ((limit >= 2)) || limit=2
  grace=$((limit / 10 < 20 ? limit / 10 + (limit < 10) : 20))
  budget=$((limit - 2 * grace))
  deadline=$((SECONDS + limit - grace))
}

if $dry_run; then
  unset SECONDS # no longer counts: the limits listed do not depend on how long listing them takes
  SECONDS=0
  architecture=ARCHITECTURE
  [[ -z $package ]] || echo "uses $package"
  echo "writes to $outdir"
  for ((i = 0; i < ${#stages[@]}; i++)); do
    stage=${stages[i]} work=$outdir/${stages[i]}
    give_time "${stages[@]:i}"
    ((seconds -= limit))
    echo "$stage, $limit seconds:"
    "stage_$stage"
  done
  exit 0
fi

[[ ${stages[0]} != build ]] || command -v nvcc >/dev/null ||
  refuse "no nvcc: put the CUDA toolkit's bin directory on the PATH"
IFS=, read -r device driver capability < <(
  nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null
) || refuse "no GPU: nvidia-smi finds none"
[[ $capability =~ ^\ *[0-9]+\.[0-9]+$ ]] || refuse "no GPU: nvidia-smi says '$device'"
architecture=${capability//[ .]/}
needed=(pytest pytest_timeout hypothesis numpy scipy torch cupy)
[[ ${stages[0]} != build ]] || needed+=(pip scikit_build_core pybind11)
python3 tools/gpu_record.py check "${needed[@]}" || exit 2

commit=$(git describe --always --abbrev=40 --exclude='*' --dirty 2>/dev/null) || commit=${TTLG_COMMIT:-unknown}
export TTLG_COMMIT=$commit
mkdir -p "$outdir" || exit 2
log=$outdir/gpu_verify.log
touch "$log" || exit 2
[[ -z $package ]] || unpack
failed=0

# Runs a stage and records what came of it.
run_stage() {
  local stage=$1 start=$SECONDS status bytes
  give_time "$@"
  work=$outdir/$stage
  mkdir -p "$work" && rm -f "$outdir/$stage.json" && clear_work
  printf '=== %s (commit %s, %s, %d seconds)\n' "$stage" "$commit" "$device" "$limit" | tee -a "$log"
  bytes=$(stat -c %s "$log")
  "stage_$stage" >>"$log" 2>&1
  status=$?
  tail -c +$((bytes + 1)) "$log" >"$work/log"
  ((status == 0)) || tail -n 40 "$work/log"
  python3 tools/gpu_record.py record "$outdir" "$stage" "$work" --status "$status" \
    --seconds $((SECONDS - start)) --commit "$commit" --device "$device" --driver "${driver# }" ||
    failed=1
  [[ ! -e $outdir/$stage.json ]] || { clear_work && rmdir "$work"; }
}

for ((i = 0; i < ${#stages[@]}; i++)); do run_stage "${stages[@]:i}"; done

echo
python3 tools/gpu_record.py table "$outdir" "${stages[@]}" | tee -a "$log"
exit $failed
