// What the Glibc and Musl modules leave out. Do not define _GNU_SOURCE here alone: the modules would then
// disagree about fd_set.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>

// An enumeration in one C library and macros in the other; here, the type that `epoll_event.events` has.
static const unsigned int gannet_epoll_in = EPOLLIN;
static const unsigned int gannet_epoll_out = EPOLLOUT;
static const unsigned int gannet_epoll_error = EPOLLERR;
static const unsigned int gannet_epoll_hang_up = EPOLLHUP;
static const unsigned int gannet_epoll_peer_closed = EPOLLRDHUP;
static const unsigned int gannet_epoll_edge = EPOLLET;

// Hidden without _GNU_SOURCE; as their manual pages declare them.
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
pid_t gettid(void);
