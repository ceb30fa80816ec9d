// OpenSSL 3: libcrypto for keys, hashes and sealing, libssl for the TLS listener.
#pragma once
#if !__has_include(<openssl/ssl.h>)
#error "Regent needs the Debian package libssl-dev: run deploy/bootstrap (or `make build`) first."
#else
#include <errno.h>
#include <sys/random.h>
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/kdf.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ec.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/x509v3.h>
#include <arpa/inet.h>

// Swift does not import macros that contain casts or function-like macros.
static inline uint64_t regent_tls_server_options(void) {
  return SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
         SSL_OP_PRIORITIZE_CHACHA;
}
static inline long regent_tls_modes(void) {
  return SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER;
}

// Copies the subject alternative name at an index (DNS name or IP address) as text. Returns its length, 0 for other
// kinds of names, and -1 after the last one.
static inline int regent_certificate_name(const X509 *certificate, int place, char *text, int room) {
  GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  int length = place < sk_GENERAL_NAME_num(names) ? 0 : -1;
  if (length == 0) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, place);
    if (name->type == GEN_DNS && ASN1_STRING_length(name->d.dNSName) < room) {
      length = ASN1_STRING_length(name->d.dNSName);
      memcpy(text, ASN1_STRING_get0_data(name->d.dNSName), (size_t)length);
    } else if (name->type == GEN_IPADD) {
      const int bytes = ASN1_STRING_length(name->d.iPAddress);
      const int family = bytes == 4 ? AF_INET : AF_INET6;
      if ((bytes == 4 || bytes == 16) && inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), text, (socklen_t)room))
        length = (int)strlen(text);
    }
  }
  GENERAL_NAMES_free(names);
  return length;
}

// Verifies a context's certificate against the authorities of this machine, ignoring dates. Returns 0, or the reason
// why the chain does not verify.
static inline int regent_certificate_chain_error(SSL_CTX *context) {
  STACK_OF(X509) *rest = NULL;
  SSL_CTX_get0_chain_certs(context, &rest);
  X509_STORE *authorities = X509_STORE_new();
  X509_STORE_CTX *check = X509_STORE_CTX_new();
  int error = X509_V_ERR_OUT_OF_MEM;
  if (authorities && check && X509_STORE_set_default_paths(authorities) == 1 &&
      X509_STORE_CTX_init(check, authorities, SSL_CTX_get0_certificate(context), rest) == 1) {
    X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(check), X509_V_FLAG_NO_CHECK_TIME);
    error = X509_verify_cert(check) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(check);
  }
  X509_STORE_CTX_free(check);
  X509_STORE_free(authorities);
  ERR_clear_error();
  return error;
}

// SHA-1 and SHA-256 as a plain value: a copy of its bytes is a copy of the hash state. An EVP context takes three
// allocations, and copying one frees and makes two of them, which costs more than hashing 200 bytes. OpenSSL has marked
// these functions as deprecated since 3.0 but still has them; they use the same code for each block.
typedef struct {
  union {
    SHA_CTX sha1;
    SHA256_CTX sha256;
  } as;
  int is_sha1;
} regent_sha;
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline void regent_sha_start(regent_sha *state, int is_sha1) {
  state->is_sha1 = is_sha1;
  if (is_sha1) SHA1_Init(&state->as.sha1); else SHA256_Init(&state->as.sha256);
}
static inline void regent_sha_add(regent_sha *state, const void *bytes, size_t count) {
  if (state->is_sha1) SHA1_Update(&state->as.sha1, bytes, count); else SHA256_Update(&state->as.sha256, bytes, count);
}
static inline void regent_sha_finish(regent_sha *state, unsigned char *hash) {
  if (state->is_sha1) SHA1_Final(hash, &state->as.sha1); else SHA256_Final(hash, &state->as.sha256);
}
#pragma clang diagnostic pop

// Random bytes from the kernel, read at each call; returns 0 when the kernel gives none. No bytes are read ahead: after
// a fork, or when a virtual machine returns to a snapshot, both copies would return the same bytes.
static inline int regent_random_bytes(unsigned char *bytes, int count) {
  while (count > 0) {
    ssize_t drawn = getrandom(bytes, (size_t)count, 0);
    if (drawn < 0 && errno == EINTR) continue;
    if (drawn <= 0) return 0;
    bytes += drawn;
    count -= (int)drawn;
  }
  return 1;
}

static inline int regent_random_add(const void *bytes, int count, double entropy) {
  (void)bytes, (void)count, (void)entropy;
  return 1;
}
static inline int regent_random_status(void) { return 1; }

// Makes OpenSSL get all its random bytes (keys, nonces, TLS) from the kernel in the same way, instead of from its
// generators in memory. Those reseed after a number of requests or some time, and a snapshot resets both.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline int regent_random_for_openssl(void) {
  static const RAND_METHOD method = {
    .bytes = regent_random_bytes, .pseudorand = regent_random_bytes, .add = regent_random_add,
    .status = regent_random_status,
  };
  return RAND_set_rand_method(&method);
}
#pragma clang diagnostic pop
#endif
