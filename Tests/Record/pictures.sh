#!/usr/bin/env bash
# pictures.sh: makes the pictures of the demo's stream again (Sources/FetchTool/Demo/DemoPictures.swift), with ffmpeg.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ffmpeg -v error -f lavfi -i "testsrc2=size=160x120:rate=3" -frames:v 8 -q:v 22 -huffman optimal "$work/%02d.jpg"
{
  echo '// Made by Tests/Record/pictures.sh: text, so that nothing has to be found at run time, and quick to compile.'
  echo
  echo '/// Pictures that move, 160 by 120, each a JPEG in base64.'
  echo 'enum DemoPictures {'
  echo '  static let base64: [String] = ['
  for picture in "$work"/*.jpg; do
    echo '    """'
    base64 -w 100 "$picture" | sed 's/^/    /'
    echo '    """,'
  done
  echo '  ]'
  echo '}'
} >Sources/FetchTool/Demo/DemoPictures.swift
