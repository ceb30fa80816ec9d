// PostgreSQL: connections to PostgreSQL 15 or newer through libpq: connection URLs, TLS, passwords, prepared
// statements, typed values, batches in one round trip, the outcome of a COMMIT, and notifications (LISTEN and NOTIFY),
// Every call has a deadline. The target knows none of Regent's tables, and only one thread
// at a time may use a connection.
//
// Start with Connection/Connection.swift. Statements cannot be cancelled here, on purpose: a COMMIT that waits for the
// standby "succeeds" when it is cancelled. A statement that takes too long is ended by closing its connection.

@_exported public import RegentSQL
