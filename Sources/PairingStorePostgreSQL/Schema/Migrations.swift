import RegentSQL

extension Schema {
  /// What came after the first tables, oldest first; a step that was released is never changed.
  ///
  /// A step adds and takes nothing away: services of the release before go on while it is there. What nobody needs any
  /// more goes one release later.
  static let migrations: [[SQL]] = [nodes, limits, longResources]

  /// What services that share the database tell each other.
  ///
  /// What is not logged is gone after a crash of the server, and costs no flush: nonces are worth something for
  /// minutes, and nodes and duties are written anew.
  private static let nodes: [SQL] = [
    // The number of the newest change. Whoever writes has the row to himself until the COMMIT, so numbers have no gaps
    // and are seen in their order.
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

  /// What limits count for all nodes, and what nodes look for.
  private static let limits: [SQL] = [
    // How many codes of a requestor may wait at most, while there are nearly as many as may wait in all; counted anew
    // where it is gone.
    "CREATE UNLOGGED TABLE live_code_count (requestor TEXT COLLATE \"C\" PRIMARY KEY, most BIGINT NOT NULL)",
    // Wrong guesses go the way of nonces.
    "ALTER TABLE nonce ADD COLUMN guesses TEXT NOT NULL DEFAULT ''",
    // A node that does not know a device's code looks for it, whatever became of it: else through all codes.
    "CREATE INDEX registration_device ON registration (device_hash, requestor)",
  ]

  /// A resource may have 8,192 bytes, and a row of an index takes 2,700: that of permits has its hash.
  private static let longResources: [SQL] = [
    "CREATE UNIQUE INDEX permit_resource ON permit (authentication, \(unsafeRawSQL: Dialect.hash(of: "resource")))",
    "ALTER TABLE permit DROP CONSTRAINT permit_pkey",
  ]
}
