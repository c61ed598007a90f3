// The server of `make bench`: a thread per connection on a loopback port that the system picks, which it prints.
// It does no more than the measurements need, so that what is seen is the client:
//   /small                         100 bytes, head and body in one send, kept alive
//   /bytes?n=N                     N bytes, kept alive
//   /mjpeg?n=N&size=S&fps=F&cl=1   N parts of S bytes, F a second (0: as fast as they are taken), with or without a
//                                  Content-Length each; X-Timestamp-Ns is CLOCK_MONOTONIC just before the part's send
//   /idle?size=S                   one part, then silence until the client goes
//   /away, /login, /put, /kept     for the programs of Tests/Consumer: a redirect to another host; /small for who
//                                  answers the challenge; /small for who sends a body with a length; what may be cached
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, REQUEST_MAX = 16384 };
static char block[BLOCK];
static const char AWAY[] = "HTTP/1.1 302 Found\r\nLocation: http://elsewhere.invalid/\r\nContent-Length: 0\r\n\r\n";
static const char KEPT[] = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 4\r\n\r\nkept";
static const char CHALLENGE[] =
    "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"here\"\r\nContent-Length: 0\r\n\r\n";
static const char LOGIN[] = "\r\nAuthorization: Basic Z3Vlc3Q6c2VjcmV0\r\n";  // guest:secret

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// Sends it all; 0 when the client has gone.
static int send_all(int fd, const void *bytes, size_t length) {
  const char *at = bytes;
  while (length > 0) {
    ssize_t sent = send(fd, at, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return 0;
    at += sent;
    length -= (size_t)sent;
  }
  return 1;
}

static int send_pair(int fd, const void *head, size_t head_length, const void *body, size_t length) {
  struct iovec pieces[2] = {{(void *)head, head_length}, {(void *)body, length}};
  struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
  ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);
  if (sent < 0) return 0;
  size_t done = (size_t)sent;
  if (done < head_length) return send_all(fd, (const char *)head + done, head_length - done) && send_all(fd, body, length);
  return send_all(fd, (const char *)body + (done - head_length), length - (done - head_length));
}

// The number after `name=` in the request line, or `otherwise`.
static long number(const char *request, const char *name, long otherwise) {
  const char *end = strstr(request, "\r\n");
  size_t length = strlen(name);
  for (const char *at = strpbrk(request, "?&"); at && at < end; at = strpbrk(at + 1, "?&"))
    if (!strncmp(at + 1, name, length) && at[1 + length] == '=') return strtol(at + 2 + length, NULL, 10);
  return otherwise;
}

static int serve_bytes(int fd, long length) {
  char head[160];
  int n = snprintf(head, sizeof head,
                   "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: application/octet-stream\r\n"
                   "Content-Length: %ld\r\n\r\n", length);
  if (!send_pair(fd, head, (size_t)n, block, length < BLOCK ? (size_t)length : BLOCK)) return 0;
  for (long left = length - BLOCK; left > 0; left -= BLOCK)
    if (!send_all(fd, block, left < BLOCK ? (size_t)left : BLOCK)) return 0;
  return 1;
}

static void serve_parts(int fd, const char *request, int idle) {
  static const char head[] =
      "HTTP/1.1 200 OK\r\nServer: bench\r\nConnection: close\r\n"
      "Content-Type: multipart/x-mixed-replace; boundary=benchboundary\r\n\r\n";
  long count = idle ? 1 : number(request, "n", 100), size = number(request, "size", 50000);
  long fps = number(request, "fps", 0), lengths = number(request, "cl", 1);
  if (size > BLOCK) size = BLOCK;
  if (!send_all(fd, head, sizeof head - 1)) return;
  if (size < 4) size = 4;
  char *picture = malloc((size_t)size);  // it begins and ends as a JPEG does
  memset(picture, 'x', (size_t)size);
  memcpy(picture, "\xff\xd8", 2);
  memcpy(picture + size - 2, "\xff\xd9", 2);
  int64_t begun = now_ns();
  for (long i = 0; i < count; i++) {
    if (fps > 0) {
      int64_t due = begun + (i + 1) * (1000000000LL / fps);
      struct timespec until = {due / 1000000000LL, due % 1000000000LL};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    char part[256], length[48] = "";
    if (lengths) snprintf(length, sizeof length, "Content-Length: %ld\r\n", size);
    int n = snprintf(part, sizeof part, "%s--benchboundary\r\nContent-Type: image/jpeg\r\n%sX-Timestamp-Ns: %lld\r\n\r\n",
                     i ? "\r\n" : "", length, (long long)now_ns());
    if (!send_pair(fd, part, (size_t)n, picture, (size_t)size)) break;
  }
  free(picture);
  if (!idle) send_all(fd, "\r\n--benchboundary--\r\n", 21);
  if (!idle) shutdown(fd, SHUT_WR);
  char rest[256];
  while (recv(fd, rest, sizeof rest, 0) > 0) {
  }
}

// Takes a body of a length that the head names, what came with the head among it.
static int take_body(int fd, const char *request, const char *body, size_t held) {
  const char *field = strstr(request, "\r\nContent-Length: ");
  long rest = field ? atol(field + 18) : 0;
  char piece[16384];
  for (rest -= (long)(held - (size_t)(body - request)); rest > 0;) {
    ssize_t got = recv(fd, piece, rest < (long)sizeof piece ? (size_t)rest : sizeof piece, 0);
    if (got <= 0) return 0;
    rest -= got;
  }
  return 1;
}

static void *serve(void *argument) {
  int fd = (int)(intptr_t)argument, one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  char *request = malloc(REQUEST_MAX + 1);
  size_t held = 0;
  for (;;) {
    ssize_t got = recv(fd, request + held, REQUEST_MAX - held, 0);
    if (got <= 0) break;
    held += (size_t)got;
    request[held] = 0;
    char *end = strstr(request, "\r\n\r\n");
    if (!end) {
      if (held == REQUEST_MAX) break;
      continue;
    }
    const char *path = strchr(request, ' ');
    if (!path) break;
    path++;
    int more = 0;
    if (!strncmp(path, "/small", 6)) more = serve_bytes(fd, 100);
    else if (!strncmp(path, "/bytes", 6)) more = serve_bytes(fd, number(request, "n", 100));
    else if (!strncmp(path, "/mjpeg", 6)) serve_parts(fd, request, 0);
    else if (!strncmp(path, "/idle", 5)) serve_parts(fd, request, 1);
    else if (!strncmp(path, "/away", 5)) more = send_all(fd, AWAY, sizeof AWAY - 1);
    else if (!strncmp(path, "/kept", 5)) more = send_all(fd, KEPT, sizeof KEPT - 1);
    else if (!strncmp(path, "/put", 4)) more = take_body(fd, request, end + 4, held) && serve_bytes(fd, 100);
    else if (!strncmp(path, "/login", 6))
      more = strstr(request, LOGIN) ? serve_bytes(fd, 100) : send_all(fd, CHALLENGE, sizeof CHALLENGE - 1);
    if (!more || strstr(request, "\r\nConnection: close\r\n")) break;
    held = 0;  // the clients here do not pipeline
  }
  free(request);
  close(fd);
  return NULL;
}

int main(void) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // never outlives the script that started it
  memset(block, 'x', sizeof block);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (listener < 0 || bind(listener, (void *)&address, length) || listen(listener, 4096) ||
      getsockname(listener, (void *)&address, &length)) {
    perror("bench server");
    return 1;
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  pthread_attr_t small_stack;
  pthread_attr_init(&small_stack);
  pthread_attr_setstacksize(&small_stack, 65536);
  pthread_attr_setdetachstate(&small_stack, PTHREAD_CREATE_DETACHED);
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    pthread_t thread;
    if (fd >= 0 && pthread_create(&thread, &small_stack, serve, (void *)(intptr_t)fd)) close(fd);
  }
}
