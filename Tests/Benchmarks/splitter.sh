#!/usr/bin/env bash
# splitter.sh: the splitter's speed in memory (ROUNDS=31), over 720p pictures that ffmpeg makes: a test pattern with
# noise, about one byte in 256 of them FF.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=.build/bench/pictures
mkdir -p "$out"
[ -f "$out/20.jpg" ] || ffmpeg -hide_banner -loglevel error -f lavfi -i \
  "testsrc2=size=1280x720:rate=5,noise=alls=20:allf=t" -frames:v 20 -q:v 4 "$out/%02d.jpg"
swift build -c release --product splitter-bench >&2
"$(swift build -c release --show-bin-path)/splitter-bench" "${ROUNDS:-31}" "$out"/*.jpg
