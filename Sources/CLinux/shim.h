// Linux calls that Glibc's module does not show to Swift, or shows in a form Swift cannot call.
// No feature macros here: the same system types would then differ between this module and Glibc.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/prctl.h>
#include <sys/file.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <errno.h>
#include <spawn.h>

// Glibc's module is built without the feature macro that declares this one (glibc 2.34).
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
