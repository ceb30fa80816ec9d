// OpenSSL 3: libcrypto for keys, hashes and sealing, libssl for the TLS listener.
#pragma once
#if !__has_include(<openssl/ssl.h>)
#error "Regent needs the Debian package libssl-dev: run deploy/bootstrap (or `make build`) first."
#else
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/kdf.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ec.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>

// Macros with casts or function-like macros inside, which Swift does not see.
static inline uint64_t regent_tls_server_options(void) {
  return SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
         SSL_OP_PRIORITIZE_CHACHA;
}
static inline long regent_tls_modes(void) {
  return SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER;
}
#endif
