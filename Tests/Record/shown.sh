#!/usr/bin/env bash
# The fetcher against real servers, as a person would try it: nginx over http and https, redirects, a missing page, a
# server that stalls, a certificate that is refused and then trusted, a camera whose every picture decodes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
swift build --product gannet >&2
gannet=$(swift build --show-bin-path)/gannet
. "$here/servers.sh"

# expect STATUS TEXT ARGUMENTS…: the exit status, and a text that its output or its error contains.
expect() {
  local status=0 said
  said=$(timeout 30 "$gannet" "${@:3}" 2>&1 </dev/null) || status=$?
  if [ $status -ne "$1" ] || [[ $said != *"$2"* ]]; then
    printf 'shown: gannet %s should have ended with %s and said "%s"; it ended with %s and said\n%s\n' \
      "${*:3}" "$1" "$2" $status "$said" >&2
    exit 1
  fi
  echo "shown: gannet ${*:3}: $1, \"$2\""
}

make_site
start_nginx
expect 0 'Hello from a real server.' "$at/hello.txt"
expect 0 '"event":"didFinishLoading"' --events "$at/text.txt"
expect 0 '"redirect":{"status":307' --events "$at/to-moved"
expect 0 '"status":404' --events "$at/no-such-file"
expect 22 '404' --fail "$at/no-such-file"
expect 60 'certificate' "https://localhost:$tls/hello.txt"
expect 60 '"phase":"handshaking"' --events "https://localhost:$tls/hello.txt"
expect 0 '"event":"didFinishLoading"' --events --cacert "$work/certificate.pem" "https://localhost:$tls/hello.txt"
expect 0 'Hello from a real server.' -k "https://localhost:$tls/hello.txt"

# Standard streams that come closed: what is shown on them goes into no socket, and a body to one is not lost in silence.
"$gannet" -v -o "$work/body" "$at/hello.txt" <&- >&- 2>&-
cmp "$work/body" "$work/site/hello.txt"
status=0
"$gannet" "$at/hello.txt" >&- 2>/dev/null || status=$?
[ $status -eq 23 ] || { echo "shown: a closed standard output gave $status" >&2; exit 1; }
echo "shown: closed standard streams"

# Uploads: a short one, a long one that waits for 100, one in chunks, and refusals before and within the body.
head -c 3000000 /dev/urandom >"$work/long.bin"
expect 0 'HTTP/1.1 201' -v -T "$work/site/hello.txt" "$at/uploads/"
cmp "$work/site/hello.txt" "$work/uploads/hello.txt"
expect 0 'HTTP/1.1 100 Continue' -v -T "$work/long.bin" "$at/uploads/long.bin"
cmp "$work/long.bin" "$work/uploads/long.bin"
"$gannet" -f -T - "$at/uploads/chunks.bin" <"$work/long.bin"
cmp "$work/long.bin" "$work/uploads/chunks.bin"
expect 0 'HTTP/1.1 413' -v -T "$work/long.bin" "$at/small-uploads/x"
expect 22 '413' -f -H Expect: -T "$work/long.bin" "$at/small-uploads/x"
expect 0 'HTTP/1.1 201' -v -u user:open-sesame -T "$work/long.bin" "$at/private-uploads/private.bin"
cmp "$work/long.bin" "$work/uploads/private.bin"
expect 0 'PUT /uploads/old.txt HTTP/1.0' -v -0 -T "$work/site/hello.txt" "$at/uploads/old.txt"
cmp "$work/site/hello.txt" "$work/uploads/old.txt"
expect 55 '"event":"needNewBodyStream"' --events -u user:open-sesame -H Expect: -T - "$at/private-uploads/none"
expect 26 'No such file' -T "$work/none" "$at/uploads/"
echo "shown: uploads"

expect 8 'no stream of parts' --parts "$work/none" "$at/hello.txt"
[ ! -e "$work/none" ] || { echo "shown: a folder for no parts" >&2; exit 1; }
end_all

# Refuses to be asked, then takes the body; answers before it has read the body, and reads on; answers and goes.
refusing=$(free_port)
start python3 "$here/uploads.py" "$refusing"
await_port "$refusing"
expect 0 'took 3000000' -T "$work/long.bin" "http://127.0.0.1:$refusing/417"
expect 0 'took 3000000' -H 'Expect: 100-continue' --expect100-timeout 0.2 -T "$work/long.bin" "http://127.0.0.1:$refusing/mute"
expect 0 'at once' -T "$work/long.bin" "http://127.0.0.1:$refusing/early"
expect 0 'no more' -H Expect: -T "$work/long.bin" "http://127.0.0.1:$refusing/gone"
grep -q 'early: read 3000000' "$work/log" || { echo "shown: the body was cut short" >&2; exit 1; }
end_all

# Accepts, and says nothing.
stalled=$(free_port)
start python3 -c "import socket, time
s = socket.socket(); s.bind(('127.0.0.1', $stalled)); s.listen(); c = s.accept(); time.sleep(60)"
await_port "$stalled"
expect 28 '"phase":"awaiting"' --events --max-time 1 "http://127.0.0.1:$stalled/"
end_all
expect 7 'onnect' "http://127.0.0.1:$stalled/"
expect 3 'no host' "http://"
expect 1 'scheme' "gopher://example.org/"
expect 1 'did you mean http://localhost:1/x?' localhost:1/x
expect 2 '-H "a b"' -H 'a b: c' "http://127.0.0.1:$stalled/"
expect 77 '--cacert' --cacert "$here/shown.sh" "http://127.0.0.1:$stalled/"

# pictures COUNT FROM: as many were saved, and each decodes.
pictures() {
  local count=0
  for picture in "$work"/pictures/*; do
    ffmpeg -v error -nostdin -xerror -i "$picture" -f null - || { echo "shown: $picture does not decode" >&2; exit 1; }
    count=$((count + 1))
  done
  [ $count -eq "$1" ] || { echo "shown: $count pictures of $1 from $2" >&2; exit 1; }
  echo "shown: $count pictures of $2 decode"
}

if have ffmpeg; then
  port=$(free_port)
  start camera 10 "$port"
  await_port "$port"
  expect 0 '' --parts "$work/pictures" "http://127.0.0.1:$port/"
  end_all
  pictures 10 ffmpeg

  # The same ones from a file, with lengths and without.
  for picture in "$work"/pictures/*; do
    printf -- '--canned\r\nContent-Type: image/jpeg\r\n\r\n' && cat "$picture" && printf '\r\n'
  done >"$work/site/camera.mjpeg"
  for picture in "$work"/pictures/*; do
    printf -- '--canned\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n' "$(wc -c <"$picture")" &&
      cat "$picture" && printf '\r\n'
  done >"$work/site/lengths.mjpeg"
  printf -- '--canned--\r\n' | tee -a "$work/site/camera.mjpeg" >>"$work/site/lengths.mjpeg"
  mv "$work/pictures" "$work/originals"
  start_nginx
  for stream in camera camera-lengths; do
    expect 0 '' --parts "$work/pictures" "$at/$stream"
    diff -r "$work/originals" "$work/pictures"
    pictures 10 "nginx's file, /$stream,"
    rm -r "$work/pictures"
  done
  end_all

  for camera in ustreamer motion; do
    have $camera || continue
    start_$camera
    path=/
    [ $camera = motion ] || path=/stream
    expect 0 '' --parts "$work/pictures" --max-parts 5 "http://127.0.0.1:$port$path"
    pictures 5 $camera
    rm -r "$work/pictures"
    expect 0 '' --snapshot "$work/snapshot.jpg" "http://127.0.0.1:$port$path"
    end_all
    mkdir "$work/pictures" && mv "$work/snapshot.jpg" "$work/pictures"
    pictures 1 "a snapshot of $camera's"
    rm -r "$work/pictures"
  done
fi
