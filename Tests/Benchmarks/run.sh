#!/usr/bin/env bash
# run.sh: Gannet beside a bare socket client that parses nothing, and curl where it is installed, against a server of
# this folder on loopback. Runs them in turn, ROUNDS times (5), and prints medians with their spread (min–max), ratios
# to the bare client, and whether the targets of docs/BENCHMARKS.md are met. QUICK=1 asks less of each.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${ROUNDS:-5}
out=.build/bench
rm -rf "$out"
mkdir -p "$out"

for product in gannet-bench gannet-runloop-bench; do swift build -c release --product $product; done
gannet=$(swift build -c release --show-bin-path)/gannet-bench
on_runloop=${gannet%-bench}-runloop-bench
compiler=$(command -v cc || command -v clang || echo "$(dirname "$(readlink -f "$(command -v swift)")")/clang")
for tool in server bare measure; do
  "$compiler" -O2 -pthread -o "$out/$tool" "Tests/Benchmarks/Tools/$tool.c"
done
"$compiler" -O2 -shared -fPIC -o "$out/allocations.so" Tests/Benchmarks/Tools/allocations.c

# Server and client each keep to a CPU of their own where there are two.
on_server=() on_client=()
if [ "$(nproc)" -ge 2 ] && command -v taskset >/dev/null; then
  on_server=(taskset -c 0) on_client=(taskset -c 1)
fi
mkfifo "$out/port"
"${on_server[@]}" "$out/server" >"$out/port" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$out/port"' EXIT
read -r port <"$out/port"
base=http://127.0.0.1:$port

many=10000 few=2000 downloads=8 frames=20000 paced=300
if [ -n "${QUICK:-}" ]; then many=1000 few=200 downloads=2 frames=2000 paced=60 rounds=${ROUNDS:-2}; fi
small="$base/small" bytes="$base/bytes?n=268435456"
mjpeg="$base/mjpeg?n=$frames&size=50000"
camera="$base/mjpeg?n=$paced&size=50000&fps=30" blind="$base/mjpeg?n=$paced&size=50000&fps=30&cl=0"

# One run: its own line of JSON to runs.json, and what `measure` saw of it to the same line of runs.txt, after TEST PEER N.
run() {
  local test=$1 peer=$2 n=$3
  shift 3
  printf '%s %s %s ' "$test" "$peer" "$n" >>"$out/runs.txt"
  "${on_client[@]}" "$out/measure" "$out/runs.txt" "$@" >"$out/last.json" || {
    echo "bench: $test of $peer failed" >&2
    exit 1
  }
  if [ -s "$out/last.json" ]; then cat "$out/last.json"; else echo '{}'; fi >>"$out/runs.json"
}

# curl keeps its connection over a range of URLs; it prints no JSON, so that its time is that of the whole process.
with_curl() {
  if command -v curl >/dev/null; then run "$1" curl "$2" curl -sS -o /dev/null "${@:3}"; fi
}

for ((round = 1; round <= rounds; round++)); do
  echo "round $round of $rounds" >&2
  run once bare 1 "$out/bare" once "$small" 1 1
  run once gannet 1 "$gannet" once "$small" 1 1
  with_curl once 1 "$small"
  run seq bare $many "$out/bare" seq "$small" $many 1
  run seq gannet $many "$gannet" seq "$small" $many 1
  run seq gannet-RunLoop $many "$on_runloop" seq "$small" $many 1
  run seq gannet-queue $many "$gannet" seqqueue "$small" $many 1
  run seq gannet-async $many "$gannet" seqasync "$small" $many 1
  with_curl seq $((many + 200)) "$small?[1-$((many + 200))]"
  run conc bare $many "$out/bare" conc "$small" $many 64
  run conc gannet $many "$gannet" conc "$small" $many 64
  run new bare $few "$out/bare" new "$small" $few 1
  run new gannet $few "$gannet" new "$small" $few 1
  run down bare $downloads "$out/bare" down "$bytes" $downloads 1
  run down gannet $downloads "$gannet" down "$bytes" $downloads 1
  run down gannet-async $downloads "$gannet" downasync "$bytes" $downloads 1
  with_curl down $downloads "$bytes&i=[1-$downloads]"
  OUT=$out/file run file gannet 1 "$gannet" file "$bytes" 1 1
  rm -f "$out/file"
  run parts gannet 1 "$gannet" mjpeg "$mjpeg" 1 1
  run camera gannet 1 "$gannet" mjpeg "$camera" 1 1
  run blind gannet 1 "$gannet" mjpeg "$blind" 1 1
done
for _ in $(seq 20); do
  run start bare 1 "$out/bare" once "$small" 1 1
  run start gannet 1 "$gannet" once "$small" 1 1
  run start gannet-RunLoop 1 "$on_runloop" once "$small" 1 1
  with_curl start 1 "$small"
done
IDLE_SECONDS=3 run idle gannet 1 "$gannet" idle "$base/idle?size=1000" 1 1
run idle200 gannet 200 "$gannet" idle "$base/idle?size=1000" 1 200

# Per request: what 2000 more requests cost more, so that starting and ending don't count.
peers=(bare gannet gannet-RunLoop gannet-queue gannet-async)
command_of() {
  case $1 in
    bare) echo "$out/bare seq" ;; gannet) echo "$gannet seq" ;; gannet-RunLoop) echo "$on_runloop seq" ;;
    gannet-queue) echo "$gannet seqqueue" ;; gannet-async) echo "$gannet seqasync" ;;
  esac
}
for peer in "${peers[@]}"; do
  read -ra command <<<"$(command_of "$peer")"
  for n in 200 2200; do
    ALLOCATIONS_TO=$out/allocations LD_PRELOAD=$PWD/$out/allocations.so "${command[@]}" "$small" $n 1 >/dev/null
    echo "$peer $n allocations $(cat "$out/allocations")" >>"$out/counts.txt"
    command -v strace >/dev/null || continue
    strace -f -c -o "$out/strace" "${command[@]}" "$small" $n 1 >/dev/null
    awk -v p="$peer" -v n=$n '$1 ~ /^[0-9.]+$/ && $NF != "total" { all += $4; if ($NF == "futex") futex = $4 }
      END { print p, n, "syscalls", all, futex + 0 }' "$out/strace" >>"$out/counts.txt"
  done
done

paste -d ' ' "$out/runs.txt" "$out/runs.json" | awk -f Tests/Benchmarks/tables.awk "$out/counts.txt" -
