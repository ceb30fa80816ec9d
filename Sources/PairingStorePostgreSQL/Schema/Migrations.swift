import RegentSQL

extension Schema {
  /// The changes of the schema after its first version, oldest first.
  ///
  /// They run in databases of earlier versions only: a new database gets the newest tables (``statements``).
  ///
  /// A released change is never edited. A change only adds, so that services of the previous release can go on during
  /// an upgrade. Columns and tables that are no longer needed are removed one release later.
  static let migrations: [[SQL]] = [nodes, limits, longResources]

  /// Adds tables for what nodes tell each other.
  ///
  /// Unlogged tables are empty after a crash of the server, but need no flush. That is acceptable: nonces matter only
  /// for minutes, and nodes and duties are written again.
  private static let nodes: [SQL] = [
    // The number of the newest change. A writer holds the row's lock until the COMMIT, so numbers have no gaps and
    // become visible in ascending order.
    "ALTER TABLE cluster ADD COLUMN changes BIGINT NOT NULL DEFAULT 0",
    """
    CREATE TABLE change (
      n BIGINT PRIMARY KEY, lane BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now(), what TEXT NOT NULL
    )
    """,
    "CREATE UNLOGGED TABLE nonce_count (id BIGINT PRIMARY KEY CHECK (id = 1), n BIGINT NOT NULL)",
    """
    CREATE UNLOGGED TABLE nonce (
      n BIGINT PRIMARY KEY, lane BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now(), used TEXT NOT NULL
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
  ]

  /// Adds limits that are counted for all nodes together, and indexes for look-ups by nodes.
  private static let limits: [SQL] = [
    // Upper bounds of the pending codes of single requestors, used while the limit of all codes is nearly reached. If a
    // row is missing, the codes are counted again.
    "CREATE UNLOGGED TABLE live_code_count (requestor TEXT COLLATE \"C\" PRIMARY KEY, most BIGINT NOT NULL)",
    // Wrong guesses of secrets are shared in the same rows as nonces.
    "ALTER TABLE nonce ADD COLUMN guesses TEXT NOT NULL DEFAULT ''",
    // A node that does not have a device's code in memory searches the codes of the device in every state. Without this
    // index it would scan all rows.
    "CREATE INDEX registration_device ON registration (device_hash, requestor)",
  ]

  /// Changes the index of permits to contain the hash of the resource.
  ///
  /// A resource may have 8,192 bytes, but an index entry is limited to about 2,700.
  private static let longResources: [SQL] = [
    "CREATE UNIQUE INDEX permit_resource ON permit (authentication, \(unsafeRawSQL: Dialect.hash(of: "resource")))",
    "ALTER TABLE permit DROP CONSTRAINT permit_pkey",
  ]
}
