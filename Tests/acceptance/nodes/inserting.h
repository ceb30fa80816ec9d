/* Shared by pipeline.c and writers.c: inserts rows with as many columns as their table has, in a pipeline. */
#pragma once
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 64 };

/* Ends the program with the server's error message. */
static inline void want(int is_fine, PGconn *connection) {
  if (is_fine) return;
  fprintf(stderr, "no figure: %s", PQerrorMessage(connection));
  exit(1);
}

/* Prepares “insert” for a row with this number of columns, and enters pipeline mode. */
static inline void prepare_insert(PGconn *connection, const char *table, int columns) {
  if (columns > COLUMNS) exit(2);
  char text[4096];
  int length = snprintf(text, sizeof text, "INSERT INTO %s VALUES (", table);
  for (int column = 1; column <= columns; column++)
    length += snprintf(text + length, sizeof text - length, "%s$%d", column == 1 ? "" : ", ", column);
  snprintf(text + length, sizeof text - length, ")");
  PGresult *made = PQprepare(connection, "insert", text, 0, NULL);
  want(PQresultStatus(made) == PGRES_COMMAND_OK, connection);
  PQclear(made);
  want(PQenterPipelineMode(connection), connection);
}
