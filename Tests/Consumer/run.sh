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

# expect PROGRAM PATH OUTPUT [ARGUMENT]
expect() {
  local said
  said=$(timeout 20 "$programs/$1" "http://127.0.0.1:$port$2" ${4:+"$4"} 2>&1) || true
  if [ "$said" != "$3" ]; then
    printf 'consumer: %s should have printed\n%s\nbut printed\n%s\n' "$1" "$3" "$said" >&2
    exit 1
  fi
  echo "consumer: $1 prints \"${3//$'\n'/; }\""
}
for program in OwnLoop RunLoopThread MainQueue Queue TaskExecutor PlainAwait; do
  expect $program '/bytes?n=300000' '200 300000'
done
expect ActorDelegates '/bytes?n=300000' $'actor 300000\nmain actor 300000\ntask of an actor 300000'
expect OperationQueues '/bytes?n=300000' $'300000\n300000'
expect StandIn / '200 sunny'
expect Smallest /small 'status 200, 100 bytes'
expect Answers /away 'status 302'
expect Answers /login 'status 200'
expect MainRunLoop '/bytes?n=300000' $'200 300000\n300000\n200 300000'
expect Camera '/mjpeg?n=2&size=40000' \
  $'picture 1: 40000 bytes\npicture 2: 40000 bytes\nthe stream ended after 2 pictures'
# The order in which three loads at once end is theirs.
porting=$(timeout 60 "$programs/Porting" "http://127.0.0.1:$port" 2>&1 | sort) || true
wanted=$(sort <<END
Succeeded! Received 100 bytes of data
Succeeded! Received 0 bytes of data
Succeeded! Received 100 bytes of data
The user name and the password in the preferences are incorrect
Connection failed! Error - the challenge was cancelled http://127.0.0.1:$port/login
Succeeded! Received 4 bytes of data
tag1: 100 bytes
tag2: 2000 bytes
tag3: 300000 bytes
Cached 4 bytes with Cached Date
END
)
if [ "$porting" != "$wanted" ]; then
  printf 'consumer: the listings of docs/PORTING.md should have printed\n%s\nbut printed\n%s\n' "$wanted" "$porting" >&2
  exit 1
fi
echo "consumer: the listings of docs/PORTING.md print what they should"
head -c 10000 /dev/zero >"$scratch/upload"
expect Upload /put $'sent 10000 of 10000 bytes\nstatus 200\nPUT: connection 1, new, kept' "$scratch/upload"
expect Pictures '/mjpeg?n=1&size=40000' 'picture 0: 40000 bytes'

# Without a URL, or with one that cannot be loaded, each program says how it is called and fails.
for program in Smallest Camera Answers Upload ActorDelegates OperationQueues; do
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
