#!/usr/bin/env bash
# Makes sure of what a build needs beside the Swift toolchain: OpenSSL 3 and zlib with their headers, and pkg-config
# to find them. Installs what is missing where it can; where it can't, says what to install. Silent when all is there.
set -euo pipefail

if ! command -v swift >/dev/null; then
  echo "Gannet needs a Swift toolchain, 6.2 or later, on the PATH: see https://www.swift.org/install/linux/" >&2
  exit 1
fi

missing=()
command -v pkg-config >/dev/null || missing+=(pkg-config)
pkg-config --exists 'openssl >= 3' 2>/dev/null || missing+=(libssl-dev)
pkg-config --exists zlib 2>/dev/null || missing+=(zlib1g-dev)
[ ${#missing[@]} -eq 0 ] && exit 0

give_up() {
  echo "Gannet needs ${missing[*]} and $1. Please install these packages (Debian's and Ubuntu's names; OpenSSL 3, \
zlib and pkg-config with their headers elsewhere) and try again." >&2
  exit 1
}

command -v apt-get >/dev/null || give_up "there is no apt-get here"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || give_up "neither root nor sudo is here to install them"
  as_root=(sudo)
fi
echo "Installing ${missing[*]}" >&2
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" </dev/null >&2; }
# The index may be missing or stale: fetch it only when the first try fails.
apt install -y --no-install-recommends "${missing[@]}" 2>/dev/null \
  || { apt update && apt install -y --no-install-recommends "${missing[@]}"; } \
  || give_up "apt-get could not install them"
