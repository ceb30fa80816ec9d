// libpq: its types and constants, and the types of its functions, which dlsym looks up. Nothing is linked: the library
// is loaded at run time, when the first connection to PostgreSQL is made. A service with SQLite never loads it.
#pragma once
#if !__has_include(<postgresql/libpq-fe.h>)
#error "Regent needs the Debian package libpq-dev: run deploy/bootstrap (or `make build`) first."
#else
#include <postgresql/libpq-fe.h>
#include <stdint.h>

// PQcancel is left out on purpose: a COMMIT that waits for the standby "succeeds" when it is cancelled.
typedef __typeof__(&PQconnectStartParams) regent_pq_connect_start;
typedef __typeof__(&PQconnectPoll) regent_pq_connect_poll;
typedef __typeof__(&PQfinish) regent_pq_finish;
typedef __typeof__(&PQstatus) regent_pq_status;
typedef __typeof__(&PQtransactionStatus) regent_pq_transaction_status;
typedef __typeof__(&PQparameterStatus) regent_pq_parameter_status;
typedef __typeof__(&PQserverVersion) regent_pq_server_version;
typedef __typeof__(&PQerrorMessage) regent_pq_error_message;
typedef __typeof__(&PQsocket) regent_pq_socket;
typedef __typeof__(&PQbackendPID) regent_pq_backend;
typedef __typeof__(&PQconnectionNeedsPassword) regent_pq_needs_password;
typedef __typeof__(&PQsslInUse) regent_pq_ssl_in_use;
typedef __typeof__(&PQsetErrorVerbosity) regent_pq_set_verbosity;
typedef __typeof__(&PQsetNoticeReceiver) regent_pq_set_notice_receiver;
typedef __typeof__(&PQsetnonblocking) regent_pq_set_nonblocking;
typedef __typeof__(&PQsendQueryParams) regent_pq_send_query;
typedef __typeof__(&PQsendPrepare) regent_pq_send_prepare;
typedef __typeof__(&PQsendDescribePrepared) regent_pq_send_describe;
typedef __typeof__(&PQsendQueryPrepared) regent_pq_send_prepared;
typedef __typeof__(&PQgetResult) regent_pq_get_result;
typedef __typeof__(&PQisBusy) regent_pq_is_busy;
typedef __typeof__(&PQconsumeInput) regent_pq_consume_input;
typedef __typeof__(&PQflush) regent_pq_flush;
typedef __typeof__(&PQenterPipelineMode) regent_pq_enter_pipeline;
typedef __typeof__(&PQexitPipelineMode) regent_pq_exit_pipeline;
typedef __typeof__(&PQpipelineSync) regent_pq_pipeline_sync;
typedef __typeof__(&PQnotifies) regent_pq_notifies;
typedef __typeof__(&PQfreemem) regent_pq_free;
typedef __typeof__(&PQresultStatus) regent_pq_result_status;
typedef __typeof__(&PQresultErrorField) regent_pq_error_field;
typedef __typeof__(&PQntuples) regent_pq_row_count;
typedef __typeof__(&PQnfields) regent_pq_column_count;
typedef __typeof__(&PQfname) regent_pq_column_name;
typedef __typeof__(&PQftype) regent_pq_column_type;
typedef __typeof__(&PQgetvalue) regent_pq_value;
typedef __typeof__(&PQgetlength) regent_pq_length;
typedef __typeof__(&PQgetisnull) regent_pq_is_null;
typedef __typeof__(&PQnparams) regent_pq_parameter_count;
typedef __typeof__(&PQparamtype) regent_pq_parameter_type;
typedef __typeof__(&PQcmdStatus) regent_pq_command;
typedef __typeof__(&PQcmdTuples) regent_pq_changed;
typedef __typeof__(&PQclear) regent_pq_clear;

// From OpenSSL, which libpq depends on. OPENSSL_INIT_NO_ATEXIT keeps `exit` from freeing OpenSSL while other threads
// still use it.
typedef int (*regent_pq_openssl_init)(uint64_t options, const void *settings);
static inline uint64_t regent_pq_openssl_no_atexit(void) { return 0x00080000; }
#endif
