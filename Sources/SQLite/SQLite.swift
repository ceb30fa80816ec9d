// SQLite: owns connections, statements, the one writer thread with group commit, the reader pool, migrations
// and backup. Knows no table of Regent; PairingStoreSQLite does.
