#!/usr/bin/env bash
# Breaks each rule once in a scratch package and asks that the check for it says so.
set -euo pipefail
checks=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/Tests/Checks" "$scratch/Sources/GannetHTTP"
git -C "$scratch" init -q
failed=0

# expect CHECK VERDICT TEXT: with these lines in one source file, CHECK passes or says TEXT.
expect() {
  cp "$checks/layers.txt" "$scratch/Tests/Checks/"
  echo "${listed-}" >"$scratch/Tests/Checks/unsafe-files.txt"
  printf '%s\n' "$3" >"$scratch/Sources/GannetHTTP/A.swift"
  git -C "$scratch" add -A
  local said
  said=$("$checks/$1" "$scratch" 2>&1) && [ "$2" = pass ] && return
  [[ $2 != pass && $said == *"$2"* ]] && return
  failed=1
  printf 'selftest: %s should have said "%s" of:\n%s\nbut said:\n%s\n' "$1" "$2" "$3" "$said" >&2
}

expect layers.sh pass 'import Synchronization'
expect layers.sh 'may not import Foundation' 'import Foundation'
expect layers.sh 'may not import Glibc' '  @preconcurrency internal import struct Glibc.stat // why'
expect layers.sh 'may not import GannetTLS' 'package import GannetTLS'
expect unsafe.sh pass 'let a = "unsafe x! try! fatalError()" // unsafe, as!'
expect unsafe.sh pass $'/* unsafe\n try! */ let a = !b; let c = a != b; if !a {}'
expect unsafe.sh 'does not name' 'let a = unsafe b()'
expect unsafe.sh 'without a SAFETY' 'let a = f(unsafe b())'
for code in 'x!' 'x!.y' 'f()!' 'a[0]!' 'try! f()' 'b as! C' 'fatalError("x")' 'preconditionFailure()' \
  'nonisolated(unsafe) let a = b' 'class A: @unchecked Sendable {}' 'Unmanaged.passRetained(a)' 'let a: Int!' \
  '// swift-format-ignore'; do
  expect unsafe.sh 'UNCHECKED' "$code"
  expect unsafe.sh pass "// UNCHECKED: a reason"$'\n'"$code"
  expect unsafe.sh 'UNCHECKED' "// UNCHECKED: a reason"$'\n'"let other = 1"$'\n'"$code"
done
listed=Sources/GannetHTTP/A.swift
expect unsafe.sh 'has no unsafe code' 'let a = 1'
expect unsafe.sh pass $'// SAFETY: bounded by n\nlet a = unsafe b()\nlet c = unsafe d()'
blank_lines=$(printf '\n%.0s' {1..20} && echo x)
expect unsafe.sh 'without a SAFETY' $'// SAFETY: bounded by n\n'"${blank_lines%x}"'let a = unsafe b()'
expect unsafe.sh pass $'// SAFETY (all of the below): bounded by n\n'"${blank_lines%x}"'let a = unsafe b()'
expect unsafe.sh 'without a SAFETY' $'{\n  // SAFETY: bounded by n\n  unsafe b()\n}\nunsafe d()'
expect paths.sh pass 'let a = "/dev/null"'
expect paths.sh 'machine' "let a = \"$(printf '/%s/%s' home someone)\""

[ $failed -eq 0 ] && echo "selftest: every rule of the checks bites"
exit $failed
