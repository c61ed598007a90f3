#!/usr/bin/env bash
# The programs in README.md are those that Tests/Consumer builds. `readme.sh` checks it, `readme.sh --write` copies
# them there: into each block that begins with ```swift program=NAME.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p .build
awk '
  /^```swift program=/ { print; name = $0; sub(/.*program=/, "", name)
    file = "Tests/Consumer/Sources/" name "/main.swift"
    while ((getline line < file) > 0) print line
    copying = 1; next }
  copying { if ($0 != "```") next; copying = 0 }
  { print }' README.md >.build/README.md
if [ "${1:-}" = --write ]; then
  cp .build/README.md README.md
elif ! diff -u README.md .build/README.md; then
  echo "readme: the programs in README.md differ from those in Tests/Consumer: Tests/Checks/readme.sh --write" >&2
  exit 1
else
  echo "readme: its programs are the ones that are built"
fi
