#!/usr/bin/env bash
# linked.sh BINARY: the fetcher needs no libcurl, no ICU and nothing of Foundation beyond its essentials.
set -euo pipefail
libraries=$(ldd "$1")
if grep -E 'libcurl|libicu|FoundationICU|FoundationInternationalization|FoundationNetworking|libFoundation\.so' \
  <<<"$libraries"; then
  echo "linked: $1 must not need the libraries above" >&2
  exit 1
fi
echo "linked: $(basename "$1") needs $(grep -c "=>" <<<"$libraries") shared libraries, no libcurl and no ICU among them"
