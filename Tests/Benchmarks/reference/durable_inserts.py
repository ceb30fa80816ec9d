"""The reference of "sqlite: durable inserts": Python's sqlite3, same table, 64 rows a transaction, WAL and FULL."""

import os
import sqlite3
import sys
import time

path, rows = sys.argv[1], int(sys.argv[2])
database = sqlite3.connect(path, isolation_level=None)
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = FULL")
database.execute(
    "CREATE TABLE code (id BLOB PRIMARY KEY, hash BLOB NOT NULL UNIQUE, public_key TEXT NOT NULL,"
    " payload TEXT NOT NULL, expires INTEGER NOT NULL, signature BLOB NOT NULL) STRICT")
key = "k" * 32
payload = "p" * 120
batches = [
    [(os.urandom(16), os.urandom(32), key, payload, 1_700_000_000_000 + n, os.urandom(32)) for n in range(64)]
    for _ in range(rows // 64)]
start = time.monotonic()
for batch in batches:
    database.execute("BEGIN IMMEDIATE")
    database.executemany("INSERT INTO code VALUES (?, ?, ?, ?, ?, ?)", batch)
    database.execute("COMMIT")
print(len(batches) * 64 / (time.monotonic() - start))
