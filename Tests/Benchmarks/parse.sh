#!/usr/bin/env bash
# parse.sh: how fast heads and chunked bodies are read, in memory, a line of JSON for each figure (docs/BENCHMARKS.md).
# Other parsers are measured beside ours where their sources are: PICOHTTPPARSER and LLHTTP name the folders that hold
# picohttpparser.c, and include/llhttp.h and src/*.c. HEAD_FILE names a head to read in place of the built-in one.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=.build/bench
mkdir -p "$out"

swift build -c release --product gannet-parse-bench >&2
bench=$(swift build -c release --product gannet-parse-bench --show-bin-path)/gannet-parse-bench
compiler=$(command -v cc || command -v clang || echo "$(dirname "$(readlink -f "$(command -v swift)")")/clang")

# Their own best: -O3, and SSE4.2 where the processor has it.
sources=() flags=(-O3 -fPIC -shared)
if grep -qw sse4_2 /proc/cpuinfo; then flags+=(-msse4.2); fi
if [ -f "${PICOHTTPPARSER:-}/picohttpparser.c" ]; then
  flags+=(-DWITH_PICO "-I$PICOHTTPPARSER") sources+=("$PICOHTTPPARSER/picohttpparser.c")
else
  echo "parse: picohttpparser skipped: PICOHTTPPARSER names no folder with picohttpparser.c" >&2
fi
if [ -f "${LLHTTP:-}/include/llhttp.h" ]; then
  flags+=(-DWITH_LLHTTP "-I$LLHTTP/include") sources+=("$LLHTTP"/src/*.c)
else
  echo "parse: llhttp skipped: LLHTTP names no folder with include/llhttp.h" >&2
fi
if [ ${#sources[@]} -gt 0 ]; then
  "$compiler" "${flags[@]}" -o "$out/parsers.so" Tests/Benchmarks/Tools/parsers.c "${sources[@]}"
  export PARSERS=$out/parsers.so
fi
# Memory once had is kept, or the kernel's clearing of pages would be measured with the larger floods only (glibc).
MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=1073741824 "$bench" head cuts chunks floods

# Per head: what 100,000 more cost more.
"$compiler" -O2 -shared -fPIC -o "$out/allocations.so" Tests/Benchmarks/Tools/allocations.c
for kind in heads "heads-in-pieces"; do
  counts=()
  for n in 1000 101000; do
    LD_PRELOAD=$PWD/$out/allocations.so ALLOCATIONS_TO=$out/allocations "$bench" "$kind=$n"
    read -r count _ <"$out/allocations"
    counts+=("$count")
  done
  more=$((counts[1] - counts[0]))
  echo "{\"test\":\"allocations\",\"of\":\"$kind\",\"heads\":100000,\"allocations\":$more}"
  # The one figure that no machine changes.
  [ $more -eq 0 ] || { echo "parse: $kind allocate" >&2; exit 1; }
done
