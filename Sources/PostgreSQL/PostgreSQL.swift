// PostgreSQL: connections to PostgreSQL 15 or newer through libpq: where it is, TLS, passwords, prepared statements,
// typed values, batches in one round trip, what a COMMIT came to, and bells (LISTEN and NOTIFY). Everything ends by a
// deadline. It knows no table of Regent, and a connection belongs to the thread that made it.
//
// Start with Connection/Connection.swift. There is no way to cancel a statement here, and on purpose: a COMMIT that
// waits for the standby "succeeds" when it is cancelled. What takes too long ends with its connection.

@_exported public import RegentSQL
