// bare MODE URL N CONC: what the sockets alone cost. It learns from its first response how many bytes each one has,
// then only sends and receives; it parses nothing. Plain http on loopback. MODE: once seq conc new down.
// Prints one line of JSON, as gannet-bench does.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 256 * 1024, WARM_UP = 200 };
static char host[64], path[512], request[1024];
static int port;
static size_t request_length;
static char buffer[BUFFER];

typedef struct { int fd; size_t left; } connection;

static void fail(const char *what) {
  perror(what);
  exit(2);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int open_connection(void) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  if (inet_pton(AF_INET, host, &address.sin_addr) != 1) fail("an IPv4 address, please");
  if (connect(fd, (void *)&address, sizeof address)) fail("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

static void send_request(int fd) {
  if (send(fd, request, request_length, MSG_NOSIGNAL) != (ssize_t)request_length) fail("send");
}

// The whole length of a response (head and body) and, through `body`, of its body: read once, before the clock.
static size_t learn(int fd, size_t *body) {
  send_request(fd);
  size_t held = 0;
  char *end = NULL;
  while (!end) {
    ssize_t got = recv(fd, buffer + held, sizeof buffer - 1 - held, 0);
    if (got <= 0) fail("recv");
    held += (size_t)got;
    buffer[held] = 0;
    end = memmem(buffer, held, "\r\n\r\n", 4);
  }
  char *field = strcasestr(buffer, "\r\nContent-Length:");
  if (!field || field > end) {
    fprintf(stderr, "the response has no Content-Length\n");
    exit(2);
  }
  *body = strtoul(field + 17, NULL, 10);
  size_t whole = (size_t)(end + 4 - buffer) + *body;
  while (held < whole) {
    ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) fail("recv");
    held += (size_t)got;
  }
  return whole;
}

static void receive(int fd, size_t left) {
  while (left > 0) {
    ssize_t got = recv(fd, buffer, left < sizeof buffer ? left : sizeof buffer, 0);
    if (got <= 0) fail("recv");
    left -= (size_t)got;
  }
}

static void concurrently(connection *all, int count, size_t whole, long n) {
  int queue = epoll_create1(EPOLL_CLOEXEC);
  long sent = 0, done = 0;
  for (int i = 0; i < count; i++) {
    all[i].fd = open_connection();
    fcntl(all[i].fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
    epoll_ctl(queue, EPOLL_CTL_ADD, all[i].fd, &event);
  }
  for (int i = 0; i < count && sent < n; i++, sent++) {
    all[i].left = whole;
    send_request(all[i].fd);
  }
  while (done < n) {
    struct epoll_event events[256];
    int ready = epoll_wait(queue, events, 256, 10000);
    if (ready <= 0) fail("epoll_wait");
    for (int i = 0; i < ready; i++) {
      connection *c = events[i].data.ptr;
      ssize_t got = recv(c->fd, buffer, sizeof buffer, 0);
      if (got < 0 && errno == EAGAIN) continue;
      if (got <= 0) fail("recv");
      c->left -= (size_t)got;
      if (c->left > 0) continue;
      done++;
      if (sent < n) {
        sent++;
        c->left = whole;
        send_request(c->fd);
      }
    }
  }
}

int main(int count, char **arguments) {
  if (count < 5 || sscanf(arguments[2], "http://%63[^:/]:%d%511s", host, &port, path) != 3) {
    fprintf(stderr, "usage: bare once|seq|conc|new|down http://127.0.0.1:PORT/PATH N CONC\n");
    return 64;
  }
  const char *mode = arguments[1];
  long n = atol(arguments[3]);
  int conc = atoi(arguments[4]), is_new = !strcmp(mode, "new");
  request_length = (size_t)snprintf(request, sizeof request,
                                    "GET %s HTTP/1.1\r\nHost: %s:%d\r\nUser-Agent: bare/1\r\nAccept: */*\r\n%s\r\n", path,
                                    host, port, is_new ? "Connection: close\r\n" : "");
  double begun = seconds();
  size_t body = 0;
  int fd = open_connection();
  size_t whole = learn(fd, &body);
  if (!strcmp(mode, "once")) {
    // That was it.
  } else if (!strcmp(mode, "seq") || !strcmp(mode, "down")) {
    for (int i = 1; i < WARM_UP && mode[0] == 's'; i++) {
      send_request(fd);
      receive(fd, whole);
    }
    begun = seconds();
    for (long i = 0; i < n; i++) {
      send_request(fd);
      receive(fd, whole);
    }
  } else if (is_new) {
    begun = seconds();
    for (long i = 0; i < n; i++) {
      int once = open_connection();
      send_request(once);
      receive(once, whole);
      close(once);
    }
  } else if (!strcmp(mode, "conc")) {
    connection *all = calloc((size_t)conc, sizeof *all);
    begun = seconds();
    concurrently(all, conc, whole, n);
  } else {
    fprintf(stderr, "bare: no mode %s\n", mode);
    return 64;
  }
  double took = seconds() - begun;
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("{\"peer\":\"bare\",\"mode\":\"%s\",\"n\":%ld,\"secs\":%.6f,\"bytes\":%.0f,\"user\":%.4f,\"sys\":%.4f,\"maxrss\":%ld}\n",
         mode, n, took, (double)n * (double)body, (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6,
         (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6, used.ru_maxrss);
  return 0;
}
