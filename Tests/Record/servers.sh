# Sourced by the scripts here: starting real servers on loopback ports of the system's choice, and ending them.

work=$(mktemp -d)
chmod 755 "$work"
running=()
end_all() {
  for pid in ${running[@]+"${running[@]}"}; do kill "$pid" 2>/dev/null || true; done
  for pid in ${running[@]+"${running[@]}"}; do wait "$pid" 2>/dev/null || true; done
  running=()
}
trap 'end_all; rm -rf "$work"' EXIT

# A loopback port that is free now.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# start COMMAND…: starts a server that ends with this script; $last is its process.
start() {
  "$@" >>"$work/log" 2>&1 </dev/null &
  last=$!
  running+=("$last")
}

# Waits for a listener on a port without connecting to it: some of the servers serve one client only.
await_port() {
  local port_hex tries
  port_hex=$(printf ':%04X 00000000:0000 0A' "$1")
  for tries in $(seq 100); do
    # The remote address of a listener is 0, its state 0A.
    if grep -q "$port_hex" /proc/net/tcp; then return; fi
    sleep 0.1
  done
  echo "record: nothing listens on port $1 after $tries tries:" >&2
  tail -n 5 "$work/log" >&2
  exit 1
}

have() {
  command -v "$1" >/dev/null && return
  echo "record: no $1 here: its recordings stay as they are" >&2
  return 1
}

make_site() {
  mkdir -p "$work/site/folder"
  printf 'Hello from a real server.\n' >"$work/site/hello.txt"
  : >"$work/site/empty.txt"
  { for i in $(seq 200); do echo "line $i of a text that compresses well, as texts do"; done; } >"$work/site/text.txt"
  printf '<html><body><!--#echo var="REQUEST_METHOD" --> and so on</body></html>\n' >"$work/site/page.shtml"
  head -c 20000 /dev/zero | tr '\0' 'z' >"$work/site/binary.bin"
  printf 'user:%s\n' "$(openssl passwd -apr1 open-sesame)" >"$work/passwords"
  for hash in md5 sha256; do
    printf 'user:the vault:%s\n' "$(printf 'user:the vault:open-sesame' | openssl dgst -$hash -r | cut -d' ' -f1)" \
      >"$work/digests-$hash"
  done
  openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj '/CN=gannet fixtures' \
    -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -keyout "$work/key.pem" -out "$work/certificate.pem" 2>/dev/null
}

# nginx on $port, and with TLS on $tls; $at is its plain address.
start_nginx() {
  port=$(free_port) tls=$(free_port) at=http://127.0.0.1:$port
  mkdir -p "$work/nginx" "$work/uploads"
  chmod 777 "$work/nginx" "$work/uploads"
  cat >"$work/nginx.conf" <<CONF
daemon off; master_process off; pid $work/nginx/pid; error_log $work/nginx/error.log;
events {}
http {
  access_log off; default_type application/octet-stream;
  types { text/html html shtml; text/plain txt; }
  client_body_temp_path $work/nginx/body; proxy_temp_path $work/nginx/proxy; fastcgi_temp_path $work/nginx/fastcgi;
  uwsgi_temp_path $work/nginx/uwsgi; scgi_temp_path $work/nginx/scgi;
  server {
    listen 127.0.0.1:$port; listen 127.0.0.1:$tls ssl; root $work/site;
    ssl_certificate $work/certificate.pem; ssl_certificate_key $work/key.pem;
    location = /text.txt { gzip on; gzip_types text/plain; gzip_min_length 1; }
    location = /page.shtml { ssi on; }
    location = /moved { return 301 /hello.txt; }
    location = /moved-relative { absolute_redirect off; return 302 hello.txt; }
    location = /to-moved { return 307 /moved; }
    location = /login { add_header Set-Cookie "session=8c1f0e5d; Path=/; HttpOnly" always; add_header Set-Cookie "seen=yes; Path=/login" always; return 303 /account; }
    location = /account { if (\$cookie_session = "") { return 403; } return 200 "welcome\n"; }
    location = /nothing { return 204; }
    location = /private { auth_basic "the vault"; auth_basic_user_file $work/passwords; try_files /hello.txt =404; }
    location /uploads/ { alias $work/uploads/; dav_methods PUT; client_max_body_size 4m; }
    location /small-uploads/ { alias $work/uploads/; dav_methods PUT; client_max_body_size 10k; }
    location /private-uploads/ { alias $work/uploads/; dav_methods PUT; client_max_body_size 4m; auth_basic "the vault"; auth_basic_user_file $work/passwords; }
    location = /camera { types {} default_type "multipart/x-mixed-replace; boundary=canned"; alias $work/site/camera.mjpeg; }
    location = /camera-lengths { types {} default_type "multipart/x-mixed-replace; boundary=canned"; alias $work/site/lengths.mjpeg; }
    location = /close { keepalive_timeout 0; try_files /hello.txt =404; }
  }
}
CONF
  start nginx -c "$work/nginx.conf" -p "$work/nginx"
  await_port "$port"
}

# A picture that moves, as ffmpeg's own server sends it: one client, then it ends.
camera() {
  exec ffmpeg -v error -nostdin -re -f lavfi -i "testsrc2=size=160x120:rate=5" -frames:v "$1" -q:v 24 "${@:3}" \
    -f mpjpeg -listen 1 "http://127.0.0.1:$2/"
}

# ustreamer on $port. It needs no camera: without one it streams a picture that says so.
start_ustreamer() {
  port=$(free_port)
  ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=160x120 -frames:v 1 -q:v 24 -pix_fmt yuvj420p -y "$work/blank.jpg"
  start ustreamer -d /dev/no-such-camera --blank "$work/blank.jpg" --host 127.0.0.1 --port "$port"
  await_port "$port"
}

# motion on $port: it takes the pictures that ffmpeg serves and streams them on.
start_motion() {
  local source
  source=$(free_port) port=$(free_port)
  start camera 200 "$source" -content_type 'multipart/x-mixed-replace;boundary=ffmpeg'
  await_port "$source"
  cat >"$work/motion.conf" <<CONF
daemon off
netcam_url mjpeg://127.0.0.1:$source/
width 160
height 120
framerate 5
stream_port $port
stream_localhost on
stream_maxrate 5
stream_quality 20
webcontrol_port 0
target_dir $work
picture_output off
movie_output off
CONF
  start motion -n -c "$work/motion.conf"
  await_port "$port"
  sleep 4 # for the first pictures
}
