/* Copies the rows of one table into another with the same columns, over one connection, 64 rows in a pipeline with one
   COMMIT. This is the most that a program without other work can write durably. Prints rows per second.

   usage: pipeline CONNECTION FROM INTO */
#include "inserting.h"
#include <time.h>

enum { AT_ONCE = 64 };

int main(int count, char **words) {
  if (count != 4) return 2;
  PGconn *connection = PQconnectdb(words[1]);
  want(PQstatus(connection) == CONNECTION_OK, connection);
  char text[4096];
  snprintf(text, sizeof text, "SELECT * FROM %s", words[2]);
  /* In binary format, as the service sends its values. */
  PGresult *rows = PQexecParams(connection, text, 0, NULL, NULL, NULL, NULL, 1);
  want(PQresultStatus(rows) == PGRES_TUPLES_OK, connection);
  int columns = PQnfields(rows), number = PQntuples(rows);
  if (number == 0) return 2;
  prepare_insert(connection, words[3], columns);
  struct timespec begun, ended;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  for (int first = 0; first < number; first += AT_ONCE) {
    int last = first + AT_ONCE < number ? first + AT_ONCE : number;
    for (int row = first; row < last; row++) {
      const char *values[COLUMNS];
      int lengths[COLUMNS], formats[COLUMNS];
      for (int column = 0; column < columns; column++) {
        values[column] = PQgetisnull(rows, row, column) ? NULL : PQgetvalue(rows, row, column);
        lengths[column] = PQgetlength(rows, row, column);
        formats[column] = 1;
      }
      want(PQsendQueryPrepared(connection, "insert", columns, values, lengths, formats, 1), connection);
    }
    /* One transaction for all rows since the last sync. */
    want(PQpipelineSync(connection), connection);
    for (int row = first; row < last; row++) {
      PGresult *result = PQgetResult(connection);
      want(PQresultStatus(result) == PGRES_COMMAND_OK, connection);
      PQclear(result);
      PQgetResult(connection);
    }
    PGresult *result = PQgetResult(connection);
    want(PQresultStatus(result) == PGRES_PIPELINE_SYNC, connection);
    PQclear(result);
  }
  clock_gettime(CLOCK_MONOTONIC, &ended);
  printf("%.0f\n", number / (ended.tv_sec - begun.tv_sec + (ended.tv_nsec - begun.tv_nsec) / 1e9));
  return 0;
}
