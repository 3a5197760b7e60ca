# What the stages of tools/gpu_verify.sh do; read by it.

trap '[[ -z ${group-} ]] || kill -KILL -- "-$group" 2>/dev/null; exit 143' HUP INT TERM

# Prints a command in a dry run, else runs it until the deadline. It is interrupted first, so that it
# can write its results, and only once: pytest would not survive the second time. Its process group
# ends with it.
run() {
  if $dry_run; then
    printf ' ' && printf ' %q' "$@" && printf '\n'
    return
  fi
  printf '+ %s\n' "$*"
  local left=$((deadline - SECONDS)) status
  set -m
  timeout --foreground --signal=INT --kill-after="$grace" $((left > 1 ? left : 1)) \
    env --default-signal=INT "$@" </dev/null &
  group=$!
  set +m
  wait "$group"
  status=$?
  kill -KILL -- "-$group" 2>/dev/null
  group=
  return $status
}

clear_work() {
  rm -f "$work"/{log,not_run,package,junit.xml,results.json{,.part},{probe,memcheck,racecheck,initcheck}.log}
}

# The build as one file, with a line that names what it was built from and for.
pack() {
  echo "$commit $architecture" >build/gpu/built &&
    tar -C build/gpu -czf "$work/package" built site &&
    mv "$work/package" "$outdir/ttlg-package.tar.gz"
}

unpack() {
  local built_commit built_architecture
  rm -rf build/gpu
  mkdir -p build/gpu
  tar -C build/gpu -xzf "$package" 2>/dev/null &&
    read -r built_commit built_architecture <build/gpu/built && [[ -d $site/ttlg ]] ||
    { rm -rf build/gpu && refuse "$package is no package that the stage build has left"; }
  [[ $built_architecture == "$architecture" ]] ||
    refuse "$package is for architecture $built_architecture, and this device's is $architecture"
  [[ $built_commit == "$commit" ]] ||
    echo "warning: $package was built from commit $built_commit, and this is $commit" | tee -a "$log"
}

stage_build() {
  run rm -rf build/gpu &&
    run python3 -m pip install -v --no-index --no-build-isolation --no-deps --target "$site" \
      -C build-dir=build/gpu/cmake -C cmake.build-type=Release -C install.strip=false \
      -C cmake.define.TTLG_CUDA=ON -C "cmake.define.CMAKE_CUDA_ARCHITECTURES=$architecture" \
      -C cmake.define.CMAKE_CUDA_FLAGS=-lineinfo . || return
  $dry_run || pack
}

# Other libraries may warn of what they like.
stage_test() {
  run python3 -m pytest tests/gpu -v -p no:cacheprovider --timeout 60 \
    -o 'filterwarnings=error:::ttlg(\.|$)' --junitxml "$work/junit.xml"
}

# Each tool runs the same cases in its part of the time, whatever the ones before found.
stage_sanitize() {
  local tool failed=0 tools=3 end=$deadline
  probe_sanitizer || return 0
  for tool in memcheck racecheck initcheck; do
    local deadline=$((SECONDS + (end - SECONDS) / tools--))
    run compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 \
      --log-file "$work/$tool.log" python3 tests/gpu/sanitize_cases.py || failed=$?
  done
  return $failed
}

# Says why compute-sanitizer cannot work here, where it cannot.
probe_sanitizer() {
  local deadline=$((SECONDS + limit / 4))
  if ! $dry_run && ! command -v compute-sanitizer >/dev/null; then
    echo "there is no compute-sanitizer" >"$work/not_run"
    return 1
  fi
  run compute-sanitizer --error-exitcode 9 --log-file "$work/probe.log" \
    python3 -c 'import cupy; cupy.cuda.alloc(8).memset(0, 8)'
  local status=$?
  $dry_run || { ((status == 0)) && grep -q SUMMARY "$work/probe.log"; } && return
  { echo "compute-sanitizer does not work here: exit status $status" && cat "$work/probe.log"; } \
    >"$work/not_run"
  return 1
}

stage_calibrate() {
  run python3 -m ttlg.benchmarks.gpu.calibrate --budget "$budget" --outdir "$outdir" \
    --json "$work/results.json"
}

# The other programs have their parts of the time, if those before have not used it up.
stage_bench() {
  local part=$((budget / 6)) failed=0 program
  run python3 -m ttlg.benchmarks.gpu --sample 40 --budget $((budget - 2 * part)) \
    --json "$work/results.json" || failed=$?
  for program in structures conversion; do
    ((SECONDS < deadline)) || break
    run python3 -m ttlg.benchmarks.gpu.$program --budget $part \
      --json "$outdir/$program.json" || failed=$?
  done
  return $failed
}

stage_bench-inplace() {
  run python3 -m ttlg.benchmarks.gpu --suite inplace-square inplace-bands inplace-3d inplace-random \
    inplace-landscape inplace-aos inplace-baselines oop-orders --budget "$budget" \
    --json "$work/results.json"
}
