// SQLite, the version that Debian ships.
#pragma once
#if !__has_include(<sqlite3.h>)
#error "Regent needs the Debian package libsqlite3-dev: run deploy/bootstrap (or `make build`) first."
#else
#include <sqlite3.h>

// Swift cannot call variadic functions. Each wrapper fixes the argument list of one use.
static inline int csqlite_switch(sqlite3 *database, int option, int value) {
  int now = 0;
  int result = sqlite3_db_config(database, option, value, &now);
  return result != SQLITE_OK ? result : (now == value ? SQLITE_OK : SQLITE_ERROR);
}
static inline int csqlite_configure_int(int option, int value) { return sqlite3_config(option, value); }

// Swift does not import the cast macro SQLITE_TRANSIENT. It makes SQLite copy the bytes before the call returns.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}
#endif
