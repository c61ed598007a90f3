// measure FILE COMMAND…: runs the command and appends one line to FILE: its wall, user and system seconds, its peak
// RSS in KiB and how often it was put to sleep. Exits as the command did.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double of(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "usage: measure FILE COMMAND...\n");
    return 64;
  }
  struct timespec begun, ended;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  pid_t child = vfork();
  if (child == 0) {
    execvp(arguments[2], arguments + 2);
    fprintf(stderr, "%s: %s\n", arguments[2], strerror(errno));
    _exit(127);
  }
  int status;
  struct rusage used;
  if (child < 0 || wait4(child, &status, 0, &used) != child) {
    perror("measure");
    return 1;
  }
  clock_gettime(CLOCK_MONOTONIC, &ended);
  FILE *file = fopen(arguments[1], "a");
  if (!file) {
    perror(arguments[1]);
    return 1;
  }
  fprintf(file, "%.6f %.6f %.6f %ld %ld\n",
          (double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec) / 1e9, of(used.ru_utime),
          of(used.ru_stime), used.ru_maxrss, used.ru_nvcsw);
  fclose(file);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
