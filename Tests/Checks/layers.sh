#!/usr/bin/env bash
# Checks every import in Sources against layers.txt. The compiler checks the manifest's dependencies; this checks what
# the manifest cannot say, such as which target may see Foundation or the C library.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

git ls-files -co --exclude-standard 'Sources/*.swift' | xargs awk '
  FNR == NR {
    if ($0 !~ /^[[:space:]]*(#|$)/) { known[$1] = 1; for (i = 2; i <= NF; i++) allowed[$1, $i] = 1 }
    next
  }
  /^[[:space:]]*(@[A-Za-z_]+(\([^)]*\))?[[:space:]]+)*((public|package|internal|fileprivate|private)[[:space:]]+)?import[[:space:]]/ {
    line = $0
    sub(/[[:space:]]*\/\/.*/, "", line)
    sub(/.*import[[:space:]]+((struct|class|enum|protocol|func|var|let|typealias)[[:space:]]+)?/, "", line)
    sub(/[.;[:space:]].*/, "", line)
    split(FILENAME, path, "/")
    if (!(path[2] in known)) { print FILENAME ": target " path[2] " is not in layers.txt"; bad = 1; nextfile }
    if (line == "Swift" || line == "Synchronization") next
    if (!((path[2], line) in allowed) && !((FILENAME, line) in allowed)) {
      print FILENAME ":" FNR ": " path[2] " may not import " line
      bad = 1
    }
    files[FILENAME] = 1
  }
  END {
    if (bad) exit 1
    for (f in files) count++
    print "layers: imports of " count + 0 " files are as drawn"
  }' Tests/Checks/layers.txt
