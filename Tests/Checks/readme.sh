#!/usr/bin/env bash
# The programs in README.md are those that Tests/Consumer builds, and the files that the documents name are there.
# `readme.sh --write` copies the programs into their blocks, which begin with ```swift program=NAME.
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
fi
missing=0
for path in $(grep -ohE '\b(Sources|Tests|Fixtures|docs)/[A-Za-z0-9_+./-]*[A-Za-z0-9]' ./*.md docs/*.md | sort -u); do
  # What `make docs` writes is not kept.
  if [ ! -e "$path" ] && [ "$path" != docs/api ]; then
    echo "readme: the documents name $path, which is not there" >&2
    missing=1
  fi
done
for limit in $(sed -n 's/^ *public var \([A-Za-z]*\) = [0-9].*/\1/p' Sources/GannetHTTP/Values/Limits.swift); do
  if ! grep -q "\`$limit\b" docs/TOLERANCES.md; then
    echo "readme: docs/TOLERANCES.md does not tell of $limit" >&2
    missing=1
  fi
done
[ $missing -eq 0 ] || exit 1
echo "readme: its programs are the ones that are built"
