/* Checks short media tokens offline. Link with -lMediaToken; see README.md beside this file. */
#ifndef REGENT_MEDIA_TOKEN_H
#define REGENT_MEDIA_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of checking a token; only MEDIA_TOKEN_VALID lets anything be played. */
enum media_token_verdict {
  MEDIA_TOKEN_VALID = 0,
  MEDIA_TOKEN_INVALID_FORMAT = 1,
  MEDIA_TOKEN_INVALID_SIGNATURE = 2,
  MEDIA_TOKEN_EXPIRED = 3,
  MEDIA_TOKEN_INVALID_RESOURCE = 4,
  MEDIA_TOKEN_UNKNOWN = 5,
  MEDIA_TOKEN_INVALID_REQUESTOR = 6
};

#if defined(__GNUC__) || defined(__clang__)
#define MEDIA_TOKEN_DEPRECATED(text) __attribute__((deprecated(text)))
#else
#define MEDIA_TOKEN_DEPRECATED(text)
#endif

/* A verifier with the keys of a JWK set (JSON text), or of a file that holds one. NULL when no key can be used.
   A verifier may be used by many threads at once. */
void *media_token_verifier_from_keys(const char *jwk_set);
void *media_token_verifier_from_file(const char *path);
void media_token_verifier_free(void *verifier);

/* Checks a token (base64, or its text). requestor is the id of the requestor whose apps may play here, compared byte by
   byte; NULL and "" are refused. resource may be NULL: then authenticity, requestor and time count.
   now_ms is the time to judge by in epoch milliseconds; 0 means the system's clock. Never blocks. */
int32_t media_token_verify_for(void *verifier, const char *token, const char *requestor, const char *resource,
                               int64_t now_ms);

/* Deprecated, removed in the next release: accepts tokens of every requestor of the service. */
MEDIA_TOKEN_DEPRECATED("use media_token_verify_for: this accepts tokens of every requestor")
int32_t media_token_verify(void *verifier, const char *token, const char *resource, int64_t now_ms);

/* Copies a field of a token whose signature is good, ended by NUL and cut to size; gives its whole length, or -1.
   Fields: resourceID, requestorID, timeIssued and timeToLive (milliseconds), userSessionGUID, mvpdId, proxyMvpdId,
   keyId. */
ptrdiff_t media_token_field(void *verifier, const char *token, const char *name, char *buffer, ptrdiff_t size);

#ifdef __cplusplus
}
#endif
#endif
