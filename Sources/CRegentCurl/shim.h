// libcurl: its types and constants, and wrappers to call the functions that dlsym finds. Nothing is linked: the library
// is loaded at run time, when the first https URL is used, because linking it costs every program 8.6 MiB and 4 ms.
#pragma once
#if !__has_include(<curl/curl.h>)
#error "Regent needs the Debian package libcurl4-openssl-dev: run deploy/bootstrap (or `make build`) first."
#else
#include <curl/curl.h>
#include <stdint.h>
#include <time.h>

// Swift cannot call variadic functions, and libcurl reads each option's argument as a type of its own. So there is one
// inline function for each type of argument.
typedef CURLcode (*regent_easy_setopt)(CURL *, CURLoption, ...);
typedef CURLcode (*regent_easy_getinfo)(CURL *, CURLINFO, ...);
typedef CURLMcode (*regent_multi_setopt)(CURLM *, CURLMoption, ...);

static inline CURLcode regent_set_long(regent_easy_setopt call, CURL *easy, CURLoption option, long value) {
  return call(easy, option, value);
}
static inline CURLcode regent_set_large(regent_easy_setopt call, CURL *easy, CURLoption option, curl_off_t value) {
  return call(easy, option, value);
}
static inline CURLcode regent_set_text(regent_easy_setopt call, CURL *easy, CURLoption option, const char *value) {
  return call(easy, option, value);
}
static inline CURLcode regent_set_pointer(regent_easy_setopt call, CURL *easy, CURLoption option, const void *value) {
  return call(easy, option, value);
}
static inline CURLcode regent_set_list(
    regent_easy_setopt call, CURL *easy, CURLoption option, struct curl_slist *value) {
  return call(easy, option, value);
}
static inline CURLcode regent_set_data_callback(
    regent_easy_setopt call, CURL *easy, CURLoption option, size_t (*value)(char *, size_t, size_t, void *)) {
  return call(easy, option, value);
}
static inline CURLcode regent_set_ssl_callback(
    regent_easy_setopt call, CURL *easy, CURLcode (*value)(CURL *, void *, void *)) {
  return call(easy, CURLOPT_SSL_CTX_FUNCTION, value);
}
static inline CURLcode regent_get_long(regent_easy_getinfo call, CURL *easy, CURLINFO info, long *value) {
  return call(easy, info, value);
}
static inline CURLcode regent_get_large(regent_easy_getinfo call, CURL *easy, CURLINFO info, curl_off_t *value) {
  return call(easy, info, value);
}
// The OpenSSL connection (SSL *) of a running transfer; null when there is none.
static inline void *regent_get_ssl(regent_easy_getinfo call, CURL *easy) {
  struct curl_tlssessioninfo *session = 0;
  if (call(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return 0;
  return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : 0;
}
static inline CURLMcode regent_set_socket_callback(
    regent_multi_setopt call, CURLM *multi, int (*value)(CURL *, curl_socket_t, int, void *, void *), void *context) {
  CURLMcode code = call(multi, CURLMOPT_SOCKETDATA, context);
  return code ? code : call(multi, CURLMOPT_SOCKETFUNCTION, value);
}
static inline CURLMcode regent_set_timer_callback(
    regent_multi_setopt call, CURLM *multi, int (*value)(CURLM *, long, void *), void *context) {
  CURLMcode code = call(multi, CURLMOPT_TIMERDATA, context);
  return code ? code : call(multi, CURLMOPT_TIMERFUNCTION, value);
}
static inline CURLMcode regent_set_multi_long(
    regent_multi_setopt call, CURLM *multi, CURLMoption option, long value) {
  return call(multi, option, value);
}

// The result is a member of a union.
static inline CURLcode regent_message_result(const CURLMsg *message) { return message->data.result; }

// Swift does not import macros that contain casts or shifts.
static inline long regent_protocol_https(void) { return CURLPROTO_HTTPS; }
static inline long regent_http_version(void) { return CURL_HTTP_VERSION_1_1; }
static inline long regent_tls_version(void) { return CURL_SSLVERSION_TLSv1_2; }
static inline long regent_global_all(void) { return CURL_GLOBAL_ALL; }
static inline curl_socket_t regent_timeout_socket(void) { return CURL_SOCKET_TIMEOUT; }

// The types of functions without variadic arguments, which dlsym finds.
typedef CURLcode (*regent_global_init)(long);
typedef curl_version_info_data *(*regent_version_info)(CURLversion);
typedef CURL *(*regent_easy_init)(void);
typedef void (*regent_easy_cleanup)(CURL *);
typedef CURLM *(*regent_multi_init)(void);
typedef CURLMcode (*regent_multi_cleanup)(CURLM *);
typedef CURLMcode (*regent_multi_handle)(CURLM *, CURL *);
typedef CURLMcode (*regent_multi_socket_action)(CURLM *, curl_socket_t, int, int *);
typedef CURLMsg *(*regent_multi_info_read)(CURLM *, int *);
typedef struct curl_slist *(*regent_slist_append)(struct curl_slist *, const char *);
typedef void (*regent_slist_free_all)(struct curl_slist *);

// From OpenSSL, which libcurl depends on. They are looked up in the same way, so that no program links OpenSSL for
// them.
typedef void *(*regent_ssl_ctx_get0_param)(void *ssl_ctx);
typedef void (*regent_verify_param_set_time)(void *param, time_t time);
typedef void *(*regent_ssl_get1_peer_certificate)(const void *ssl);
typedef const void *(*regent_x509_get0_time)(const void *certificate);
typedef int (*regent_x509_cmp_time)(const void *asn1_time, time_t *time);
typedef void (*regent_x509_free)(void *certificate);
typedef int (*regent_openssl_init)(uint64_t options, const void *settings);
// OPENSSL_INIT_NO_ATEXIT keeps `exit` from freeing OpenSSL while other threads still use it.
static inline uint64_t regent_openssl_no_atexit(void) { return 0x00080000; }
#endif
