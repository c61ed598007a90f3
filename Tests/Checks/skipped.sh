#!/usr/bin/env bash
# After the tests: which suites were not run, and why.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -z "${GANNET_VECTORS:-}" ] || exit 0
suites=$(grep -rh --include='*.swift' '@Suite.*VectorFile.areAvailable' Tests | wc -l)
echo "test: $suites suites were skipped: they read the cases of public test suites from the folder that GANNET_VECTORS" \
  "names, and it is not set (docs/CONFORMANCE.md)."
