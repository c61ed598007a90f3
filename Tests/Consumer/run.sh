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
for program in OwnLoop RunLoopThread MainQueue Queue TaskExecutor PlainAwait; do
  expect $program '/bytes?n=300000' '200 300000'
done
expect Smallest /small 'status 200, 100 bytes'
expect Answers /away 'status 302'
expect Answers /login 'status 200'
expect MainRunLoop '/bytes?n=300000' $'200 300000\n200 300000'
expect Camera '/mjpeg?n=2&size=40000' \
  $'picture 1: 40000 bytes\npicture 2: 40000 bytes\nthe stream ended after 2 pictures'

# Without a URL, or with one that cannot be loaded, each program says how it is called and fails.
for program in Smallest Camera Answers; do
  for url in '' localhost:80/; do
    status=0
    said=$("$programs/$program" ${url:+"$url"} 2>&1) || status=$?
    if [ $status -ne 2 ] || [[ $said != "usage: $program "* ]]; then
      printf 'consumer: %s %s should have told its usage but ended with %d and\n%s\n' \
        "$program" "$url" $status "$said" >&2
      exit 1
    fi
  done
done
echo "consumer: a bad URL gets the usage"
