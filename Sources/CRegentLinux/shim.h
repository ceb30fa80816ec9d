// Linux calls that Glibc's module does not export to Swift, or exports in a form that Swift cannot call. No feature
// macros may be defined here: system types would then differ between this module and Glibc.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/prctl.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <linux/fb.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/kd.h>
#include <errno.h>
#include <malloc.h>
#include <spawn.h>
#include <sched.h>
#include <unistd.h>

// _GNU_SOURCE must not be defined here: it changes fd_set, and the module would conflict with Glibc's. Functions that
// need it are declared by hand.
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

// Subscribes a netlink socket to changes of this machine's links, addresses and routes. The kernel assigns the socket's
// address, because a process may have several such sockets.
static inline int regent_listen_to_network(int socket) {
  struct sockaddr_nl address = {
    .nl_family = AF_NETLINK,
    .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE };
  return bind(socket, (struct sockaddr *)&address, sizeof address);
}

// A timer that never expires. Reading it fails with ECANCELED after the wall clock was set.
static inline int regent_watch_clock(void) {
  int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  struct itimerspec never = { .it_value = { .tv_sec = 0x7fffffff0 } };
  if (timer >= 0 && timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, 0) == 0) return timer;
  if (timer >= 0) close(timer);
  return -1;
}

// Watches a directory for names that are created, removed or written.
static inline int regent_watch_folder(const char *path) {
  int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (watch >= 0 && inotify_add_watch(
      watch, path, IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_ONLYDIR) >= 0) return watch;
  if (watch >= 0) close(watch);
  return -1;
}

// The layout of struct ucred, for SO_PEERCRED.
struct regent_credentials { pid_t process; uid_t user; gid_t group; };

// How many cores this process may run on, at least 1. The affinity mask counts, so taskset and cpusets are respected.
static inline int regent_usable_cores(void) {
  unsigned long mask[128];
  long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
  int cores = 0;
  for (long word = 0; word < bytes / (long)sizeof mask[0]; word++)
    cores += __builtin_popcountl(mask[word]);
  return cores > 0 ? cores : 1;
}

// Glibc's module is built without the feature macro that declares this function (glibc 2.34).
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

// Names the calling thread. prctl is variadic, which Swift cannot call.
static inline void regent_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// Asks the scheduler for a short time slice for the calling thread: it then gets a core sooner and keeps it for less
// time. Works on Linux 6.12 and later, does nothing before. glibc 2.36 has no wrapper for the call. Errors are ignored.
static inline void regent_take_short_turns(unsigned long nanoseconds) {
  struct { unsigned size, policy; unsigned long long flags; int nice; unsigned priority;
           unsigned long long runtime, deadline, period; } turns = { .size = sizeof turns };
  if (syscall(SYS_sched_getattr, 0, &turns, sizeof turns, 0) != 0) return;
  turns.runtime = nanoseconds;
  syscall(SYS_sched_setattr, 0, &turns, 0);
}

// strerror shares one buffer between threads; this function does not (glibc 2.32).
extern const char *strerrordesc_np(int number);
static inline const char *regent_error_words(int number) { return strerrordesc_np(number); }

// Makes all threads allocate from one arena. Swift does not import the macro, which is a negative number.
static inline void regent_share_one_heap(void) { mallopt(M_ARENA_MAX, 1); }

static inline void regent_trim_heap(void) { malloc_trim(0); }

// prctl is variadic, which Swift cannot call. The options used here take one number.
static inline int regent_prctl(int option, unsigned long value) { return prctl(option, value, 0, 0, 0); }

// Swift 6 treats a global variable as shared mutable state. Reading it once at the start of a program is safe.
static inline char **regent_environment(void) {
  extern char **environ;
  return environ;
}
