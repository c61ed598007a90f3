#!/usr/bin/env bash
# Unsafe is a place, not a habit. In Sources:
# - `unsafe` (and the attributes `@unsafe` and `@safe`) stands only in the files that unsafe-files.txt names, and each
#   use is covered by a `// SAFETY:` comment: on its line, or above it in the same block and at most 15 lines away
#   (`// SAFETY (all of …):` covers the rest of its block);
# - what the compiler or a trap must take on trust has `// UNCHECKED: reason` on its line or in the comment before it.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

git ls-files -co --exclude-standard 'Sources/*.swift' | xargs awk '
  # The code of a line without its strings and comments; the text of its line comment goes to `comment`.
  function strip(s,   out, c, three, i) {
    out = ""; comment = ""; i = 1
    while (i <= length(s)) {
      c = substr(s, i, 1); three = substr(s, i, 3)
      if (depth > 0) {
        if (substr(s, i, 2) == "*/") { depth--; i += 2 } else if (substr(s, i, 2) == "/*") { depth++; i += 2 } else i++
      } else if (text == 3) {
        if (c == "\\") i += 2; else if (three == "\"\"\"") { text = 0; i += 3 } else i++
      } else if (text == 1) {
        if (c == "\\") i += 2; else { if (c == "\"") text = 0; i++ }
      } else if (substr(s, i, 2) == "//") {
        comment = substr(s, i); i = length(s) + 1
      } else if (substr(s, i, 2) == "/*") { depth++; i += 2 }
      else if (three == "\"\"\"") { text = 3; i += 3 }
      else if (c == "\"") { text = 1; i++ }
      else { out = out c; i++ }
    }
    if (text == 1) text = 0
    return out
  }
  function indent(s) { match(s, /^ */); return RLENGTH }
  function complain(what) { print FILENAME ":" FNR ": " what; bad = 1 }

  FNR == NR { if ($0 !~ /^[[:space:]]*(#|$)/) listed[$1] = 1; next }
  FNR == 1 { safety = 0; excused = 0; depth = 0; text = 0 }
  {
    code = strip($0)
    blank = (code ~ /^[[:space:]]*$/)
    if (safety && !blank && indent($0) < safetyIndent) safety = 0
    if (comment ~ /SAFETY( \([^)]*\))?: *[^ ]/) {
      safety = FNR; safetyIndent = indent($0); reach = comment ~ /SAFETY \(/ ? 100000 : 15
    }
    if (comment ~ /UNCHECKED: *[^ ]/) excused = 1

    if (code ~ /(^|[^A-Za-z0-9_.(])unsafe[[:space:](]|(^|[^A-Za-z0-9_])@(un)?safe([^A-Za-z0-9_]|$)|[(]unsafe[[:space:]]/) {
      uses++; used[FILENAME] = 1
      if (!(FILENAME in listed)) complain("unsafe code in a file that unsafe-files.txt does not name")
      if (!safety || FNR - safety > reach) complain("unsafe code without a SAFETY comment above it")
    }
    word = ""
    if (code ~ /@unchecked[[:space:]]+Sendable/) word = "@unchecked Sendable"
    else if (code ~ /nonisolated\(unsafe\)/) word = "nonisolated(unsafe)"
    else if (code ~ /(^|[^A-Za-z0-9_])Unmanaged([^A-Za-z0-9_]|$)/) word = "Unmanaged"
    else if (code ~ /(^|[^A-Za-z0-9_])try!/) word = "try!"
    else if (code ~ /(^|[^A-Za-z0-9_])as!/) word = "as!"
    else if (code ~ /(^|[^A-Za-z0-9_])(fatalError|preconditionFailure)[[:space:]]*\(/) word = "fatalError"
    else if (code ~ /[A-Za-z0-9_)\]}?"]!([^=A-Za-z0-9_(]|$)/) word = "a forced unwrap"
    if (word != "") { if (excused) marked++; else complain(word " without an UNCHECKED comment") }
    if (comment ~ /swift-format-ignore/ && !excused) complain("swift-format-ignore without an UNCHECKED comment")
    if (!blank) excused = 0
  }
  END {
    for (f in listed) if (!(f in used)) { print "unsafe-files.txt: " f " has no unsafe code (any more)"; bad = 1 }
    if (bad) exit 1
    for (f in listed) files++
    print "unsafe: " uses + 0 " uses in " files + 0 " listed files, each with its reason; " marked + 0 " marked exceptions"
  }' Tests/Checks/unsafe-files.txt
