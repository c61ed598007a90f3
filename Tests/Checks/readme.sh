#!/usr/bin/env bash
# The programs in README.md and docs are those that Tests/Consumer builds, and the files that the documents name are
# there. `readme.sh --write` copies the programs into their blocks, which begin with ```swift program=NAME, or =NAME/FILE
# for one file of a program.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p .build/documents
for document in README.md docs/*.md; do
  rebuilt=.build/documents/$(basename "$document")
  awk '
    /^```swift program=/ { print; name = $0; sub(/.*program=/, "", name)
      file = "Tests/Consumer/Sources/" name (name ~ /\// ? ".swift" : "/main.swift")
      while ((getline line < file) > 0) print line
      copying = 1; next }
    copying { if ($0 != "```") next; copying = 0 }
    { print }' "$document" >"$rebuilt"
  if [ "${1:-}" = --write ]; then
    cp "$rebuilt" "$document"
  elif ! diff -u "$document" "$rebuilt"; then
    echo "readme: a program in $document differs from the one in Tests/Consumer: Tests/Checks/readme.sh --write" >&2
    exit 1
  fi
done
missing=0
for path in $(grep -ohE '\b(Sources|Tests|Fixtures|docs)/[A-Za-z0-9_+./-]*[A-Za-z0-9]' ./*.md docs/*.md | sort -u); do
  # What `make docs` writes is not kept.
  if [ ! -e "$path" ] && [ "$path" != docs/api ]; then
    echo "readme: the documents name $path, which is not there" >&2
    missing=1
  fi
done
for limit in $(sed -n 's/^ *public var \([A-Za-z]*\) = [0-9].*/\1/p' Sources/GannetHTTP/Values/Limits.swift); do
  if ! grep -q "\`$limit\b" docs/LIMITS.md; then
    echo "readme: docs/LIMITS.md does not tell of $limit" >&2
    missing=1
  fi
done
version=$(sed -n 's/.*static let current = "\(.*\)"/\1/p' Sources/Gannet/Loading/RequestComposer.swift)
if ! grep -m 1 '^## ' CHANGELOG.md | grep -qF "## $version"; then
  echo "readme: the newest version in CHANGELOG.md is not $version, which the program says it is" >&2
  missing=1
fi
[ $missing -eq 0 ] || exit 1
echo "readme: the documents' programs are the ones that are built"
