#!/usr/bin/env bash
# No file names a place on the machine it was written on.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

here=$(pwd -P)
places=('/(home|Users|root)/[A-Za-z0-9_.-]+' "$(printf '%s/' "$(dirname "$here")" | sed 's/[.[\*^$+?(){}|]/\\&/g')")
for place in "${places[@]}"; do
  # A clone in / or /tmp has no place of its own to look for.
  case $place in / | /tmp/) continue ;; esac
  # Fixtures hold what servers sent, this file the patterns.
  if git grep -nIE -e "$place" -- . ':!Fixtures' ':!Tests/Checks/paths.sh'; then
    echo "paths: the lines above name a place on somebody's machine" >&2
    exit 1
  fi
done
echo "paths: no file names a place on this machine"
