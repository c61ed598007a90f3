// What the Glibc and Musl modules leave out. Do not define _GNU_SOURCE here alone: the modules would then
// disagree about fd_set.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
