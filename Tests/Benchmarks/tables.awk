# tables.awk COUNTS RUNS: the tables of `make bench`, from the lines that run.sh wrote:
#   COUNTS  PEER N allocations CALLS BYTES   and   PEER N syscalls ALL FUTEX
#   RUNS    TEST PEER N WALL USER SYSTEM PEAK_KIB SLEEPS {JSON of the peer}

function value(name,   at) {
  return match($0, "\"" name "\":[-0-9.e]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 : ""
}
function add(test, peer, what, x) { sample[test, peer, what, ++count[test, peer, what]] = x }

# Sorts the samples of a kind and sets `low`, `middle` and `high`.
function summarise(test, peer, what,   n, i, j, x) {
  n = count[test, peer, what]
  for (i = 2; i <= n; i++) {
    x = sample[test, peer, what, i]
    for (j = i - 1; j >= 1 && sample[test, peer, what, j] > x; j--)
      sample[test, peer, what, j + 1] = sample[test, peer, what, j]
    sample[test, peer, what, j + 1] = x
  }
  low = sample[test, peer, what, 1]; high = sample[test, peer, what, n]
  middle = (sample[test, peer, what, int((n + 1) / 2)] + sample[test, peer, what, int(n / 2) + 1]) / 2
  return n
}
function median(test, peer, what) { return summarise(test, peer, what) ? middle : -1 }
function shown(form, x) { return x < 0 ? "-" : sprintf(form, x) }
function spread(form, test, peer, what) {
  return summarise(test, peer, what) ? sprintf(form " (" form "–" form ")", middle, low, high) : "-"
}
function per_request(peer, what) {
  return (peer, 2200, what) in counted ? (counted[peer, 2200, what] - counted[peer, 200, what]) / 2000 : -1
}
function verdict(words, figure, limit, form) {
  if (figure < 0) return printf_line(words ": not measured here")
  return printf_line(words ": " sprintf(form, figure) (figure <= limit ? ", met" : ", NOT met"))
}
function printf_line(s) { print "- " s }

FILENAME == ARGV[1] {
  if ($3 == "allocations") { counted[$1, $2, "allocations"] = $4; counted[$1, $2, "bytes"] = $5 }
  else { counted[$1, $2, "syscalls"] = $4; counted[$1, $2, "futex"] = $5 }
  next
}
{
  test = $1; peer = $2; n = $3; wall = $4; user = $5; sys = $6
  secs = value("secs"); if (secs == "") secs = wall
  if (!((test, peer) in seen)) { seen[test, peer] = 1; peers[test] = peers[test] " " peer }
  requests = n + (test == "seq" && peer != "curl" ? 200 : 0)
  if (requests > 0) { add(test, peer, "rate", n / secs); add(test, peer, "cpu", (user + sys) / requests * 1e6) }
  bytes = value("bytes"); if (bytes == "") bytes = n * 268435456
  add(test, peer, "gbs", bytes / secs / 1e9)
  if (bytes > 0) add(test, peer, "cpugib", (user + sys) / (bytes / 1073741824))
  add(test, peer, "peak", $7 / 1024)
  add(test, peer, "ms", wall * 1000)
  split("frames lat_p50_us lat_p99_us lat_max_us kb_per_conn idle_cpu_ms idle_sleeps idle_secs", names, " ")
  for (i in names) if ((x = value(names[i])) != "") add(test, peer, names[i], x)
  if (value("frames") != "") { add(test, peer, "fps", value("frames") / secs); add(test, peer, "cpuframe", (user + sys) / value("frames") * 1e6) }
}

function requests_table(test, title,   i, n, list, base) {
  print "\n" title "\n\n| client | requests/s (min–max) | to bare | CPU µs/request (min–max) | to bare | peak RSS MB |"
  print "|---|---|---|---|---|---|"
  n = split(peers[test], list, " ")
  for (i = 1; i <= n; i++)
    printf "| %s | %s | %.2f | %s | %.2f | %.1f |\n", list[i], spread("%.0f", test, list[i], "rate"), \
      median(test, list[i], "rate") / median(test, "bare", "rate"), spread("%.1f", test, list[i], "cpu"), \
      median(test, list[i], "cpu") / median(test, "bare", "cpu"), median(test, list[i], "peak")
}

END {
  requests_table("seq", "Small GETs, one after the other on one connection")
  print "\nEach of these requests costs\n\n| client | syscalls | of them futex | allocations | bytes allocated |"
  print "|---|---|---|---|---|"
  n = split("bare gannet gannet-RunLoop gannet-queue gannet-async", list, " ")
  for (i = 1; i <= n; i++)
    printf "| %s | %s | %s | %s | %s |\n", list[i], shown("%.2f", per_request(list[i], "syscalls")), \
      shown("%.2f", per_request(list[i], "futex")), shown("%.1f", per_request(list[i], "allocations")), \
      shown("%.0f", per_request(list[i], "bytes"))
  requests_table("conc", "Small GETs, 64 at a time")
  requests_table("new", "Small GETs, each on a connection of its own")

  print "\nDownloads of 256 MiB\n\n| client | GB/s (min–max) | to bare | CPU s/GiB (min–max) | peak RSS MB |\n|---|---|---|---|---|"
  n = split(peers["down"], list, " ")
  for (i = 1; i <= n; i++)
    printf "| %s | %s | %.2f | %s | %.1f |\n", list[i], spread("%.2f", "down", list[i], "gbs"), \
      median("down", list[i], "gbs") / median("down", "bare", "gbs"), spread("%.2f", "down", list[i], "cpugib"), \
      median("down", list[i], "peak")
  printf "| gannet to a file | %s | %.2f | %s | %.1f |\n", spread("%.2f", "file", "gannet", "gbs"), \
    median("file", "gannet", "gbs") / median("down", "bare", "gbs"), spread("%.2f", "file", "gannet", "cpugib"), \
    median("file", "gannet", "peak")

  print "\nmultipart/x-mixed-replace, parts of 50,000 bytes\n\n| stream | parts/s (min–max) | CPU µs/part | latency µs: median, 99 %, most |\n|---|---|---|---|"
  n = split("parts camera blind", list, " ")
  title["parts"] = "as fast as it goes"; title["camera"] = "30/s"; title["blind"] = "30/s, no part lengths"
  for (i = 1; i <= n; i++)
    printf "| %s | %s | %.1f | %.0f, %.0f, %.0f |\n", title[list[i]], spread("%.0f", list[i], "gannet", "fps"), \
      median(list[i], "gannet", "cpuframe"), median(list[i], "gannet", "lat_p50_us"), \
      median(list[i], "gannet", "lat_p99_us"), median(list[i], "gannet", "lat_max_us")

  print "\nStart to one GET, whole process\n\n| client | ms (min–max) | peak RSS MB |\n|---|---|---|"
  n = split(peers["start"], list, " ")
  for (i = 1; i <= n; i++)
    printf "| %s | %s | %.1f |\n", list[i], spread("%.1f", "start", list[i], "ms"), median("start", list[i], "peak")

  idle = median("idle", "gannet", "idle_cpu_ms")
  printf "\nOne silent stream, held open for %.0f s: %.2f ms of CPU, woken %d times. 200 of them: %.1f KiB each.\n", \
    median("idle", "gannet", "idle_secs"), idle, median("idle", "gannet", "idle_sleeps"), \
    median("idle200", "gannet", "kb_per_conn")

  print "\nTargets (delegate API on a loop of its own)\n"
  verdict("at most 4 syscalls per sequential request", per_request("gannet", "syscalls"), 4, "%.2f")
  verdict("no futex among them", per_request("gannet", "futex"), 0.005, "%.3f")
  verdict("at most twice the CPU of the bare client", median("seq", "gannet", "cpu") / median("seq", "bare", "cpu"), 2, "%.2f×")
  verdict("an idle connection takes no CPU (below 1 ms in its seconds)", idle, 1, "%.2f ms")
  verdict("at most 12 ms from start to one GET", median("start", "gannet", "ms"), 12, "%.1f ms")
}
