#!/usr/bin/env bash
# Writes the reference of the libraries to docs/api, one site, from the doc comments, with the toolchain's own docc.
set -euo pipefail
cd "$(dirname "$0")/../.."
# The products, and the layer whose EventLoop Gannet hands on; with what stands at the head of each module's page.
libraries=(Gannet GannetFoundation GannetHTTP GannetMultipart GannetExchange GannetSockets)
declare -A abstracts=(
  [Gannet]='The client: connections, their delegates, requests, responses, errors.'
  [GannetFoundation]='What needs all of Foundation: `RunLoop` scheduling, and errors as `NSError`.'
  [GannetHTTP]='The syntax of HTTP/1.1 as values without sockets: fields, heads, chunks, requests, URLs, limits.'
  [GannetMultipart]='The splitter of `multipart/x-mixed-replace` streams.'
  [GannetExchange]='One connection, exchange after exchange: bytes in, heads and bodies out.'
  [GannetSockets]='The event loop that loads run on.'
)
toolchain=$(dirname "$(readlink -f "$(command -v swift)")")
target=$(swift -print-target-info | sed -n 's/^ *"unversionedTriple": "\(.*\)",*$/\1/p')
work=.build/docs

swift build
rm -rf "$work" docs/api
mkdir -p "$work/graphs" "$work/Reference.docc" docs
maps=()
for map in Sources/*/module.modulemap; do maps+=(-Xcc "-fmodule-map-file=$PWD/$map"); done
for library in "${libraries[@]}"; do
  # Extension symbols: without them what a module adds to another's types is on no page.
  "$toolchain/swift-symbolgraph-extract" -module-name "$library" -target "$target" \
    -I "$(swift build --show-bin-path)/Modules" "${maps[@]}" -emit-extension-block-symbols \
    -minimum-access-level public -skip-synthesized-members -output-dir "$work/graphs"
  printf '# ``%s``\n\n%s\n' "$library" "${abstracts[$library]}" >"$work/Reference.docc/$library.md"
done
"$toolchain/docc" convert "$work/Reference.docc" --additional-symbol-graph-dir "$work/graphs" --output-path docs/api \
  --fallback-display-name Gannet --fallback-bundle-identifier gannet --transform-for-static-hosting \
  --warnings-as-errors | sed '/^$/d'

# The first page: docc's own has no module to show.
{
  echo '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Gannet</title>'
  echo '<style>body { font: 1em/1.5 sans-serif; margin: 3em }</style><h1>Gannet</h1><dl>'
  for library in "${libraries[@]}"; do
    echo "<dt><a href=\"documentation/${library,,}/\">$library</a><dd>${abstracts[$library]//\`/}"
  done
  echo '</dl></html>'
} >docs/api/index.html

for library in "${libraries[@]}"; do
  pages=$(find "docs/api/data/documentation/${library,,}" -name '*.json' 2>/dev/null | wc -l) || pages=0
  if [ "$pages" -eq 0 ]; then
    echo "docs: the reference of $library is empty" >&2
    exit 1
  fi
  echo "docs: $library: $pages pages"
done
echo "docs: to read it, serve docs/api over http (python3 -m http.server --directory docs/api)"
