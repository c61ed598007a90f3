#!/usr/bin/env bash
# Builds the package of this folder, which depends on Gannet as a user's does, and runs each of its programs against a
# small server on loopback.
set -euo pipefail
cd "$(dirname "$0")"
scratch=../../.build/consumer
mkdir -p "$scratch"
swift build --scratch-path "$scratch"
programs=$(swift build --scratch-path "$scratch" --show-bin-path)
compiler=$(command -v cc || command -v clang || echo "$(dirname "$(readlink -f "$(command -v swift)")")/clang")
"$compiler" -O2 -pthread -o "$scratch/server" ../Benchmarks/Tools/server.c

rm -f "$scratch/port"
mkfifo "$scratch/port"
"$scratch/server" >"$scratch/port" &
server=$!
trap 'kill $server 2>/dev/null; rm -f "$scratch/port"' EXIT
read -r port <"$scratch/port"

# expect PROGRAM PATH OUTPUT
expect() {
  local said
  said=$(timeout 20 "$programs/$1" "http://127.0.0.1:$port$2" 2>&1) || true
  if [ "$said" != "$3" ]; then
    printf 'consumer: %s should have printed\n%s\nbut printed\n%s\n' "$1" "$3" "$said" >&2
    exit 1
  fi
  echo "consumer: $1 prints \"${3//$'\n'/; }\""
}
for program in OwnLoop RunLoopThread MainQueue TaskExecutor PlainAwait; do expect $program '/bytes?n=300000' '200 300000'; done
expect Smallest /small '100 bytes'
expect Camera '/mjpeg?n=2&size=40000' \
  $'picture 1: 40000 bytes\npicture 2: 40000 bytes\nthe stream ended after 2 pictures'
