// libcrypt (libxcrypt): bcrypt, for password hashes that other programs have made.
#pragma once
#if !__has_include(<crypt.h>)
#error "Regent needs the Debian package libcrypt-dev: run deploy/bootstrap (or `make build`) first."
#else
#include <crypt.h>

// Swift does not see the size of a struct with such long arrays.
static inline int regent_crypt_data_size(void) { return sizeof(struct crypt_data); }
#endif
