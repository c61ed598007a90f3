#!/usr/bin/env bash
# run.sh [SECONDS [TARGET…]]: builds each fuzz target against the package's sources, with libFuzzer and the address
# sanitizer, and runs it for so long (SECONDS_EACH, or 30), JOBS at a time (as many as there are processors), with the
# fixtures as seeds. What it finds is kept in .build/fuzz/finds, and is a failure. An hour of each of the wire's, in the
# background of a machine:
#
#     nice -n 19 env JOBS=4 Tests/Fuzz/run.sh 3600 head chunked framing exchange >fuzz.log 2>&1
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-${SECONDS_EACH:-30}}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(head fields chunked framing exchange splitter coding url cookie challenge recording)
out=.build/fuzz
mkdir -p "$out/finds" "$out/seeds"

flags=(-swift-version 6 -strict-memory-safety -package-name gannet -O -g -sanitize=fuzzer,address -parse-as-library
  -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature ExistentialAny -I "$out")
for map in Sources/*/module.modulemap; do flags+=(-Xcc "-fmodule-map-file=$map"); done

# The layers, lowest first: each is built once, as an object and a module beside it.
for layer in GannetHTTP GannetPolicy GannetMultipart GannetExchange GannetCoding GannetSockets; do
  mapfile -t sources < <(find "Sources/$layer" -name '*.swift' | sort)
  if [ ! -f "$out/$layer.o" ] || [ -n "$(find Sources Tests/Fuzz/run.sh -newer "$out/$layer.o" -type f)" ]; then
    echo "fuzz: building $layer"
    swiftc "${flags[@]}" -wmo -c -module-name "$layer" -emit-module -emit-module-path "$out/$layer.swiftmodule" \
      -o "$out/$layer.o" "${sources[@]}"
  fi
done

# What servers sent, as the fixtures recorded it, connection by connection: seeds for what reads the wire. The byte
# before each seed chooses its cuts, the next one the target's variant; a script of the exchange's is empty.
seeds=$out/seeds
rm -rf "$seeds" && mkdir -p "$seeds/wire" "$seeds/exchange" "$seeds/framing" "$seeds/recordings"
find Fixtures -name '*.wire' -exec cp {} "$seeds/recordings/" \; 2>/dev/null || true
for recording in "$seeds"/recordings/*.wire; do
  [ -f "$recording" ] || continue
  perl -0777 -e '
    my ($file, $folder, $name) = @ARGV;
    open(my $in, "<:raw", $file) or die $!;
    my $bytes = <$in>;
    my %sent;
    while ($bytes =~ /\G([^\n]*)\n/gc) {
      next unless $1 =~ /^([<>]) (\d+) \S+ (\d+)$/;
      my ($way, $connection, $length) = ($1, $2, $3);
      my $place = pos($bytes);
      $sent{$connection} .= substr($bytes, $place, $length) if $way eq "<";
      pos($bytes) = $place + $length + 1;
    }
    for my $connection (keys %sent) {
      my ($fields) = $sent{$connection} =~ /^[^\n]*\n(.*?)\r?\n\r?\n/s;
      for (["wire", "@\0$sent{$connection}"], ["exchange", "@\0\0$sent{$connection}"], ["framing", "@ \0$fields"]) {
        open(my $out, ">:raw", "$folder/$$_[0]/$name-$connection") or die $!;
        print $out $$_[1];
      }
    }' "$recording" "$seeds" "$(basename "$recording" .wire)"
done

# Runs one target; what it says is kept until it has ended.
run() {
  local target=$1 corpus=$out/corpus-$1 source=$seeds/wire
  mkdir -p "$corpus"
  case $target in
    recording) source=$seeds/recordings ;;
    exchange | framing) source=$seeds/$target ;;
  esac
  # Swift's own backtracer would trip over the sanitizer.
  if ! SWIFT_BACKTRACE=enable=no "$out/$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
    -print_final_stats=1 -dict=Tests/Fuzz/http.dict -artifact_prefix="$out/finds/$target-" \
    "$corpus" "$source" >"$out/$target.log" 2>&1; then
    touch "$out/failed"
    tail -n 40 "$out/$target.log"
    echo "fuzz: $target failed; the input is in $out/finds" >&2
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$target.log")
  echo "fuzz: $target, $seconds s, ${runs:-no} runs"
}

rm -f "$out/failed"
jobs=${JOBS:-$(nproc)}
for target in "${targets[@]}"; do
  swiftc "${flags[@]}" -module-name fuzz Tests/Fuzz/Harness.swift "Tests/Fuzz/$target.swift" \
    "$out"/Gannet{HTTP,Policy,Multipart,Exchange,Coding,Sockets}.o -lz -o "$out/$target" 2>"$out/$target.link" || { cat "$out/$target.link" >&2; exit 1; }
  while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do wait -n || true; done
  run "$target" &
done
wait
[ ! -e "$out/failed" ]
