// RegentSQL: SQL statements with bound values, for SQLite and PostgreSQL alike, so that one statement can run on
// either. Also rows that are copied from one database to the other, and a histogram for both. It owns no connection and
// knows no database's types.
