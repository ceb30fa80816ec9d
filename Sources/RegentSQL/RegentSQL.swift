// RegentSQL: a statement and the values that travel beside it, as the tools for SQLite and PostgreSQL take them, rows
// on their way from one database to the other, and how the two count what they do. One form for both, so that one text
// of a rule can run on either. It owns no connection and knows no database's types.
