"""Copies the rows of a table into an empty database with the same schema, 64 a transaction, and prints rows/s.

This is the fastest plain SQLite that we know for these rows: the schema's own conditions (OR, not IN), no trigger and
therefore no statement journal, and rows in the order of their ids.

usage: same_rows.py SOURCE TARGET [TABLE]          TABLE defaults to registration
"""

import sqlite3
import sys
import time

source = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
table = sys.argv[3] if len(sys.argv) > 3 else "registration"
names = {row[0] for row in source.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
if table not in names:
    sys.exit(f"no table {table}; there are {sorted(names)}")
rows = source.execute(f"SELECT * FROM {table} LIMIT 40000").fetchall()
schema = [
    row[0]
    for row in source.execute(
        "SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type <> 'table'",
        (table,),
    )
]

target = sqlite3.connect(sys.argv[2], isolation_level=None)
target.execute("PRAGMA journal_mode = WAL")
target.execute("PRAGMA synchronous = FULL")
for statement in schema:
    target.execute(statement)
insert = f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})"
start = time.perf_counter()
for first in range(0, len(rows), 64):
    target.execute("BEGIN IMMEDIATE")
    target.executemany(insert, rows[first : first + 64])
    target.execute("COMMIT")
print(len(rows) / (time.perf_counter() - start))
