// libargon2: password hashing.
#pragma once
#if !__has_include(<argon2.h>)
#error "Regent needs the Debian package libargon2-dev: run deploy/bootstrap (or `make build`) first."
#else
#include <argon2.h>
#endif
