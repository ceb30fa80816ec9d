// libcrypt (libxcrypt): bcrypt, for passwords that other programs have hashed.
#pragma once
#if !__has_include(<crypt.h>)
#error "Regent needs the Debian package libcrypt-dev: run deploy/bootstrap (or `make build`) first."
#else
#include <crypt.h>

// Swift does not see the size of a struct with arrays as long as these.
static inline int regent_crypt_data_size(void) { return sizeof(struct crypt_data); }
#endif
