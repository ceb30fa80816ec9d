/* What several writers gain by writing in parallel instead of in turns. Each has its own connection and writes
transactions
   like those of a node: it locks the row of `cluster`, or only reads it, then sends its rows with the COMMIT. The rows
   are
   copies of one row of a table, inserted into another with the same columns. Prints the rows per second of all writers.

   usage: writers CONNECTION FROM INTO WRITERS ROWS SECONDS taking-turns|side-by-side */
#include "inserting.h"
#include <pthread.h>
#include <string.h>
#include <time.h>

static const char *place, *from, *into, *question;
static int rows_each;
static double ends;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

/* Reads the results of the sent commands, up to the sync of the pipeline. */
static void take(PGconn *connection, int commands) {
  for (int command = 0; command < commands; command++) {
    PGresult *result = PQgetResult(connection);
    ExecStatusType status = PQresultStatus(result);
    want(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, connection);
    PQclear(result);
    PQgetResult(connection);
  }
  PGresult *result = PQgetResult(connection);
  want(PQresultStatus(result) == PGRES_PIPELINE_SYNC, connection);
  PQclear(result);
}

static void plain(PGconn *connection, const char *text) {
  want(PQsendQueryParams(connection, text, 0, NULL, NULL, NULL, NULL, 1), connection);
}

static void *write_rows(void *number) {
  PGconn *connection = PQconnectdb(place);
  want(PQstatus(connection) == CONNECTION_OK, connection);
  char text[4096];
  snprintf(text, sizeof text, "SELECT * FROM %s LIMIT 1", from);
  PGresult *row = PQexecParams(connection, text, 0, NULL, NULL, NULL, NULL, 1);
  want(PQresultStatus(row) == PGRES_TUPLES_OK && PQntuples(row) == 1, connection);
  int columns = PQnfields(row);
  prepare_insert(connection, into, columns);
  unsigned short seed[3] = {(unsigned short)(size_t)number, (unsigned short)time(NULL), 7};
  long written = 0;
  while (now() < ends) {
    plain(connection, "BEGIN");
    plain(connection, question);
    want(PQpipelineSync(connection), connection);
    take(connection, 2);
    for (int turn = 0; turn < rows_each; turn++) {
      const char *values[COLUMNS];
      int lengths[COLUMNS], formats[COLUMNS];
      char drawn[3][32];
      for (int one = 0; one < 3; one++)
        for (int byte = 0; byte < 32; byte++) drawn[one][byte] = (char)(one ? nrand48(seed) >> 8 : 'a' + nrand48(seed) % 26);
      for (int column = 0, one = 0; column < columns; column++) {
        values[column] = PQgetisnull(row, 0, column) ? NULL : PQgetvalue(row, 0, column);
        lengths[column] = PQgetlength(row, 0, column);
        formats[column] = 1;
        const char *name = PQfname(row, column);
        if (strcmp(name, "id") && strcmp(name, "code") && strcmp(name, "device_hash")) continue;
        values[column] = drawn[one++];
        lengths[column] = 32;
      }
      want(PQsendQueryPrepared(connection, "insert", columns, values, lengths, formats, 1), connection);
    }
    plain(connection, "COMMIT");
    want(PQpipelineSync(connection), connection);
    take(connection, rows_each + 1);
    written += rows_each;
  }
  PQfinish(connection);
  return (void *)written;
}

int main(int count, char **words) {
  if (count != 8) return 2;
  place = words[1], from = words[2], into = words[3];
  int writers = atoi(words[4]);
  rows_each = atoi(words[5]);
  double seconds = atof(words[6]);
  question = strcmp(words[7], "taking-turns") ? "SELECT 1 FROM cluster WHERE id = 1" : "SELECT 1 FROM cluster WHERE id = 1 FOR UPDATE";
  ends = now() + seconds;
  pthread_t threads[64];
  if (writers < 1 || writers > 64) return 2;
  for (size_t number = 0; number < (size_t)writers; number++)
    if (pthread_create(&threads[number], NULL, write_rows, (void *)number)) return 1;
  long all = 0;
  for (int number = 0; number < writers; number++) {
    void *written;
    pthread_join(threads[number], &written);
    all += (long)written;
  }
  printf("%.0f\n", all / seconds);
  return 0;
}
