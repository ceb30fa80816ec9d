import RegentSQL

extension Schema {
  /// Creates the newest version of all tables.
  ///
  /// These are the store's tables as they are declared (`Tables`), and those that only a cluster needs (``migrations``
  /// says what for).
  static let statements: [SQL] =
    [
      """
      CREATE TABLE cluster (
        id BIGINT PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL, schema BIGINT NOT NULL, live_codes BIGINT,
        changes BIGINT NOT NULL DEFAULT 0
      )
      """,
      """
      CREATE TABLE lane (
        lane BIGINT PRIMARY KEY, node TEXT NOT NULL, n BIGINT NOT NULL, touched TIMESTAMPTZ NOT NULL DEFAULT now()
      )
      """,
      """
      CREATE TABLE change (
        n BIGINT PRIMARY KEY, lane BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now(), what TEXT NOT NULL
      )
      """,
      "CREATE UNLOGGED TABLE nonce_count (id BIGINT PRIMARY KEY CHECK (id = 1), n BIGINT NOT NULL)",
      """
      CREATE UNLOGGED TABLE nonce (
        n BIGINT PRIMARY KEY, lane BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now(), used TEXT NOT NULL,
        guesses TEXT NOT NULL DEFAULT ''
      )
      """,
      """
      CREATE UNLOGGED TABLE lease (
        name TEXT COLLATE "C" PRIMARY KEY, node TEXT NOT NULL, until TIMESTAMPTZ NOT NULL
      )
      """,
      """
      CREATE UNLOGGED TABLE node (
        name TEXT COLLATE "C" PRIMARY KEY, lane BIGINT NOT NULL, backend BIGINT NOT NULL,
        started TIMESTAMPTZ NOT NULL DEFAULT now(), seen TIMESTAMPTZ NOT NULL DEFAULT now(), version TEXT NOT NULL,
        said TEXT NOT NULL DEFAULT '', wish TEXT NOT NULL DEFAULT ''
      )
      """,
      "CREATE UNLOGGED TABLE live_code_count (requestor TEXT COLLATE \"C\" PRIMARY KEY, most BIGINT NOT NULL)",
      "CREATE TABLE data_key (purpose TEXT COLLATE \"C\" PRIMARY KEY, sealed BYTEA NOT NULL)",
    ] + Tables.all.flatMap(\.creation) + [
      "CREATE INDEX registration_device ON registration (device_hash, requestor)"
    ]
}

extension SignedTable {
  /// The statements that create the table and its indexes.
  fileprivate var creation: [SQL] {
    let key = columns.prefix(keyCount)
    // An index entry is too short for a long column, so the index that replaces the primary key contains its hash.
    let long = key.first(where: \.isLong)
    let keys = key.map { $0.isLong ? Dialect.hash(of: $0.name) : $0.name }.joined(separator: ", ")
    var parts = columns.map { "\($0.name) \($0.kind.type)\($0.isNullable ? "" : " NOT NULL")" }
    parts.append("signature BYTEA NOT NULL")
    if Tables.inOrderOfWriting.contains(name) { parts.append("rowid BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE") }
    if long == nil { parts.append("PRIMARY KEY (\(keys))") }
    parts += unique.map { "UNIQUE (\($0))" }
    var texts = ["CREATE TABLE \(name) (\(parts.joined(separator: ", ")))"]
    if let long { texts.append("CREATE UNIQUE INDEX \(name)_\(long.name) ON \(name) (\(keys))") }
    texts += indexes.map { index in
      "CREATE INDEX \(name)_\(index.name) ON \(name) (\(index.columns))"
        + (index.condition.map { " WHERE \($0)" } ?? "")
    }
    return texts.map { SQL(unsafeRawSQL: $0, []) }
  }
}

extension Column.Kind {
  /// The type in PostgreSQL; texts are sorted by their bytes, as in SQLite and in Swift.
  fileprivate var type: String {
    switch self {
    case .text: "TEXT COLLATE \"C\""
    case .number: "BIGINT"
    case .bytes: "BYTEA"
    }
  }
}
