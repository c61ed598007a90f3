#!/usr/bin/env bash
# Writes the reference of each library to docs/api/NAME, from the doc comments, with the toolchain's own docc.
set -euo pipefail
cd "$(dirname "$0")/../.."
# The products, and the layer whose EventLoop Gannet hands on.
libraries=(Gannet GannetFoundation GannetHTTP GannetMultipart GannetExchange GannetSockets)
toolchain=$(dirname "$(readlink -f "$(command -v swift)")")
target=$(swift -print-target-info | sed -n 's/^ *"unversionedTriple": "\(.*\)",*$/\1/p')

swift build
maps=()
for map in Sources/*/module.modulemap; do maps+=(-Xcc "-fmodule-map-file=$PWD/$map"); done
for library in "${libraries[@]}"; do
  graphs=.build/docs/$library
  rm -rf "$graphs" "docs/api/$library"
  mkdir -p "$graphs" docs/api
  "$toolchain/swift-symbolgraph-extract" -module-name "$library" -target "$target" \
    -I "$(swift build --show-bin-path)/Modules" "${maps[@]}" \
    -minimum-access-level public -skip-synthesized-members -output-dir "$graphs"
  "$toolchain/docc" convert --additional-symbol-graph-dir "$graphs" --output-path "docs/api/$library" \
    --fallback-display-name "$library" --fallback-bundle-identifier "gannet.$library" \
    --transform-for-static-hosting --hosting-base-path "$library" --warnings-as-errors
  echo "docs: docs/api/$library"
done
echo "docs: to read it, serve docs/api over http (python3 -m http.server --directory docs/api) and open" \
  "/Gannet/documentation/gannet/"
