#!/usr/bin/env bash
# Builds the optimised, stripped fetcher with the Swift libraries inside, at .build/gannet, and shows what it weighs.
set -euo pipefail
cd "$(dirname "$0")/../.."
options=(-c release --product gannet --static-swift-stdlib --scratch-path .build/static)
# The linker warns of mktemp, which Foundation's own Data.write uses and nothing here calls. Remove when it doesn't.
swift build "${options[@]}" 2>&1 | sed "/libFoundationEssentials\.a.*mktemp' is dangerous/d"
strip -o .build/gannet "$(swift build "${options[@]}" --show-bin-path)/gannet"
echo "$(stat -c %s .build/gannet | awk '{ printf "%.1f MB", $1 / 1e6 }')  .build/gannet"
ldd .build/gannet
Tests/Checks/linked.sh .build/gannet
