#!/usr/bin/env bash
# Makes the recordings again, in a scratch folder, and asks that each server still has as many as Fixtures, and that
# the loads of both went through the same events, apart from dates, ports and how many pictures a camera sent.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
Tests/Record/record.sh "$scratch"

shape() { sed -n 's/^{"event":"\([A-Za-z]*\)".*/\1/p' "$1" | uniq; }
# A camera ends in the middle of whatever it was sending.
outline() { case $1 in ustreamer/stream | motion/*) shape "$2" | head -n 3 ;; *) shape "$2" ;; esac; }
differing=0
while read -r name; do
  if ! [ -s "Fixtures/$name" ]; then
    echo "check: Fixtures has no $name: run Tests/Record/record.sh" >&2
    differing=1
  elif ! diff <(outline "${name%.events}" "Fixtures/$name") <(outline "${name%.events}" "$scratch/$name"); then
    echo "check: $name went another way (< Fixtures, > now)" >&2
    differing=1
  fi
done < <(cd "$scratch" && find . -name '*.events' | sed 's/^..//' | sort)
[ $differing -eq 0 ] && echo "check: every load went as recorded"
exit $differing
