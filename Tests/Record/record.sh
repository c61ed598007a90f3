#!/usr/bin/env bash
# record.sh [FOLDER]: makes the recordings of FOLDER (Fixtures) again, from real servers that it starts on loopback
# ports of the system's choice and ends again. A server that isn't installed is named and skipped. Each load becomes
# FOLDER/SERVER/NAME.wire; NAME.events is what the replay of that recording gives.
#
# Debian's packages: nginx apache2-bin lighttpd haproxy python3 ffmpeg ustreamer motion openssl
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
fixtures=${1:-Fixtures}
mkdir -p "$fixtures"
fixtures=$(cd "$fixtures" && pwd)
swift build --product gannet >&2
gannet=$(swift build --show-bin-path)/gannet

. "$here/servers.sh"

# The events of a load with adjacent didReceiveData made one, as a replay gives them.
merged() {
  awk '
    /^{"event":"didReceiveData",/ {
      piece = $0; sub(/.*"length":/, "", piece); total = $0; sub(/.*"total":/, "", total)
      sum += piece + 0; held = total + 0; next }
    held { printf "{\"event\":\"didReceiveData\",\"length\":%d,\"total\":%d}\n", sum, held; sum = held = 0 }
    { print }' "$1"
}

# record SERVER/NAME ARGUMENTS…: one recording and its events. The load may well fail: that is recorded too.
count=0
record() {
  local name=$fixtures/$1
  shift
  mkdir -p "$(dirname "$name")"
  rm -f "$name.wire" "$name.events"
  timeout 30 "$gannet" --record "$name.wire" --events "$@" >"$work/live" 2>>"$work/log" </dev/null || true
  "$gannet" --replay "$name.wire" --events >"$name.events" 2>>"$work/log" </dev/null || true
  [ -s "$name.events" ] || { echo "record: $name has no events" >&2; tail -n 5 "$work/log" >&2; exit 1; }
  # The replay tells what the load itself told, save for secrets, which the recording masks.
  if ! diff <(merged "$work/live") "$name.events" >"$work/difference" && ! grep -q -e Set-Cookie -e rspauth "$work/difference"; then
    echo "record: $name replays otherwise than it went:" >&2
    cat "$work/difference" >&2
    exit 1
  fi
  count=$((count + 1))
}

record_nginx() {
  start_nginx
  record nginx/plain "$at/hello.txt"
  record nginx/canonical "$at"
  record nginx/empty "$at/empty.txt"
  record nginx/gzip-chunked "$at/text.txt"
  record nginx/chunked "$at/page.shtml"
  record nginx/binary "$at/binary.bin"
  record nginx/head -I "$at/hello.txt"
  record nginx/post-refused -d 'a=1&b=2' "$at/hello.txt"
  record nginx/upload -T "$work/site/hello.txt" "$at/uploads/"
  record nginx/upload-continue -H 'Expect: 100-continue' -T "$work/site/text.txt" "$at/uploads/text.txt"
  record nginx/upload-refused -H 'Expect: 100-continue' -T "$work/site/binary.bin" "$at/small-uploads/binary.bin"
  record nginx/not-found "$at/no-such-file"
  record nginx/redirect-absolute "$at/moved"
  record nginx/redirect-relative "$at/moved-relative"
  record nginx/redirect-twice "$at/to-moved"
  record nginx/redirect-refused --no-redirect "$at/moved"
  record nginx/login -b '' -d 'user=u' "$at/login"
  record nginx/no-content "$at/nothing"
  record nginx/challenge "$at/private"
  record nginx/basic -u user:open-sesame "$at/private"
  record nginx/close "$at/close"
  record nginx/tls --cacert "$work/certificate.pem" "https://localhost:$tls/hello.txt"
  record nginx/tls-gzip --cacert "$work/certificate.pem" "https://localhost:$tls/text.txt"
  record nginx/plain-on-tls-port "http://127.0.0.1:$tls/hello.txt"
  end_all
}

record_apache() {
  local port modules at
  port=$(free_port) at=http://127.0.0.1:$port
  modules=/usr/lib/apache2/modules
  mkdir -p "$work/apache"
  cat >"$work/apache.conf" <<CONF
ServerRoot $work/apache
ServerName 127.0.0.1
PidFile $work/apache/pid
ErrorLog $work/apache/error.log
Listen 127.0.0.1:$port
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule authz_user_module $modules/mod_authz_user.so
LoadModule authn_core_module $modules/mod_authn_core.so
LoadModule authn_file_module $modules/mod_authn_file.so
LoadModule auth_digest_module $modules/mod_auth_digest.so
LoadModule mime_module $modules/mod_mime.so
LoadModule dir_module $modules/mod_dir.so
LoadModule autoindex_module $modules/mod_autoindex.so
LoadModule filter_module $modules/mod_filter.so
LoadModule deflate_module $modules/mod_deflate.so
TypesConfig /dev/null
AddType text/plain .txt
DocumentRoot $work/site
<Directory $work/site>
  Options +Indexes
  Require all granted
  AddOutputFilterByType DEFLATE text/plain
</Directory>
<Location /hello.txt>
  AuthType Digest
  AuthName "the vault"
  AuthUserFile $work/digests-md5
  Require valid-user
</Location>
User nobody
Group nogroup
CONF
  start apache2 -f "$work/apache.conf" -DFOREGROUND
  await_port "$port"
  record apache/plain "$at/binary.bin"
  record apache/deflate "$at/text.txt"
  record apache/folder-redirect "$at/folder"
  record apache/not-found "$at/no-such-file"
  record apache/digest -u user:open-sesame "$at/hello.txt"
  record apache/digest-wrong -u user:sesame "$at/hello.txt"
  end_all
}

record_lighttpd() {
  local port at
  port=$(free_port) at=http://127.0.0.1:$port
  cat >"$work/lighttpd.conf" <<CONF
server.document-root = "$work/site"
server.bind = "127.0.0.1"
server.port = $port
server.modules = ("mod_dirlisting", "mod_auth", "mod_authn_file")
auth.backend = "htdigest"
auth.backend.htdigest.userfile = "$work/digests-sha256"
auth.require = ("/text.txt" => (
  "method" => "digest", "algorithm" => "SHA-256", "realm" => "the vault", "require" => "valid-user"))
dir-listing.activate = "enable"
mimetype.assign = (".txt" => "text/plain", "" => "application/octet-stream")
CONF
  start lighttpd -D -f "$work/lighttpd.conf"
  await_port "$port"
  record lighttpd/plain "$at/hello.txt"
  record lighttpd/listing "$at/"
  record lighttpd/not-found "$at/no-such-file"
  record lighttpd/digest-sha256 -u user:open-sesame "$at/text.txt"
  end_all
}

record_python() {
  local port at
  port=$(free_port) at=http://127.0.0.1:$port
  start python3 -u -m http.server --bind 127.0.0.1 --directory "$work/site" "$port"
  await_port "$port"
  record python/plain "$at/hello.txt"
  record python/listing "$at/"
  record python/not-found "$at/no-such-file"
  end_all
}

# Not a real server: one that sends what real ones get wrong, byte for byte.
record_tolerances() {
  local port name
  port=$(free_port)
  start python3 -u "$here/tolerances.py" "$port"
  await_port "$port"
  while read -r name; do
    record "tolerances/$name" "http://127.0.0.1:$port/$name"
  done < <(python3 "$here/tolerances.py" --names)
  end_all
}

record_haproxy() {
  local port at
  port=$(free_port) at=http://127.0.0.1:$port
  cat >"$work/haproxy.conf" <<CONF
global
  log stdout format raw local0
defaults
  mode http
  timeout client 10s
  timeout connect 1s
  timeout server 10s
frontend fixtures
  bind 127.0.0.1:$port
  http-request redirect code 301 location /target if { path /moved }
  http-request redirect prefix http://127.0.0.1:$port/deep if { path /prefix }
  http-request return status 200 content-type text/plain string "you found it" if { path /target /deep/prefix }
  http-request early-hint Link "</style.css>; rel=preload" if { path /hinted }
  http-request return status 200 content-type text/plain string "after the hint" if { path /hinted }
  default_backend nowhere
backend nowhere
CONF
  start haproxy -db -f "$work/haproxy.conf"
  await_port "$port"
  record haproxy/redirect "$at/moved"
  record haproxy/redirect-prefix "$at/prefix"
  record haproxy/early-hints "$at/hinted"
  record haproxy/unavailable "$at/elsewhere"
  end_all
}

record_ffmpeg() {
  local port
  port=$(free_port)
  start camera 4 "$port" -content_type 'multipart/x-mixed-replace;boundary=ffmpeg'
  await_port "$port"
  record ffmpeg/mpjpeg "http://127.0.0.1:$port/"
  end_all
  # Without -content_type it calls the stream application/octet-stream.
  port=$(free_port)
  start camera 3 "$port"
  await_port "$port"
  record ffmpeg/mpjpeg-unlabelled "http://127.0.0.1:$port/"
  end_all
}

# Neither ends by itself: it is ended.
record_ustreamer() {
  start_ustreamer
  (sleep 3; kill "$last") &
  record ustreamer/stream "http://127.0.0.1:$port/stream"
  end_all
  start_ustreamer
  record ustreamer/snapshot "http://127.0.0.1:$port/snapshot"
  end_all
}

record_motion() {
  start_motion
  (sleep 3; kill "$last") &
  record motion/stream "http://127.0.0.1:$port/"
  end_all
}

make_site
have nginx && record_nginx
have apache2 && record_apache
have lighttpd && record_lighttpd
have python3 && record_python
have python3 && record_tolerances
have haproxy && record_haproxy
have ffmpeg && record_ffmpeg
have ustreamer && have ffmpeg && record_ustreamer
have motion && have ffmpeg && record_motion
echo "record: $count recordings in $fixtures"
