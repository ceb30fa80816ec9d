import PairingStore
import RegentCryptography
import SQLite

/// The schema as a list of migrations.
///
/// A released migration is never changed.
enum Schema {
  /// "RGNT" in ASCII.
  ///
  /// SQLite's application id, which marks the file as this program's.
  static let applicationID: Int32 = 0x5247_4E54

  /// The migrations.
  ///
  /// A new migration is appended at the end. Release 0.1.0 has the first two.
  ///
  /// - Parameter keys: the keys with which a migration signs rows; see ``Resigning``.
  /// - Returns: the migrations, oldest first.
  static func migrations(_ keys: MigrationKeys) -> [Migration] {
    [
      Migration("first tables") { context in
        try context.runScript(keyTables)
        try context.runScript(codes)
        try context.runScript(tokens)
        try context.runScript(provisioning)
        try context.runScript(upkeep)
      },
      Migration("the numbers of the day") { context in try context.runScript(numbers) },
      Migration("no triggers") { context in try context.runScript(noTriggers) },
      Migration("a head for the audit log") { context in
        try context.runScript(auditHead)
        try AuditHead.begin(in: context, keys.vault(in: context))
      },
      Migration("fewer indexes of codes") { context in try context.runScript(codeIndexes) },
      signInsWithParents.migration("sign-ins have parents", keys) { context in
        try context.runScript(parents)
      },
      Migration("invitations of boxes") { context in try context.runScript(enrolments) },
      Migration("clients and grants of OAuth") { context in try context.runScript(grants) },
      signingKeysOfPurpose.migration("signing keys have a purpose", keys) { context in
        try context.run("ALTER TABLE signing_key ADD COLUMN purpose TEXT NOT NULL DEFAULT 'media'")
      },
      clientsThatPaired.migration("clients that paired", keys) { context in
        try context.runScript(clientsThatRegister)
      },
    ]
  }

  /// The schema that these migrations produce in an empty file.
  ///
  /// Every opened file must have exactly this schema.
  static let made = Result {
    // Each use gets a new key, because each `MigrationKeys` must open the keys of its own file only.
    guard let key = SealingKey(id: 0, Random.secret()) else { throw StoreKeyFailure.masterKeyLength(found: 0) }
    return try DatabaseSchema(madeBy: migrations(MigrationKeys(key)), applicationID: applicationID)
  }

  private static let keyTables: StaticString = """
    CREATE TABLE data_key (purpose TEXT PRIMARY KEY, sealed BLOB NOT NULL) STRICT;
    CREATE TABLE key_pair (
      id TEXT PRIMARY KEY, requestor TEXT NOT NULL, purpose TEXT NOT NULL, secret BLOB NOT NULL,
      created INTEGER NOT NULL, state TEXT NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    CREATE INDEX key_pair_requestor ON key_pair (requestor, purpose, state);
    CREATE TABLE signing_key (
      id TEXT PRIMARY KEY, private_key BLOB NOT NULL, public_jwk TEXT NOT NULL,
      created INTEGER NOT NULL, signs_from INTEGER NOT NULL, retired INTEGER, needed_until INTEGER,
      signature BLOB NOT NULL
    ) STRICT;
    """

  // The migration `noTriggers` removes live_code_count and its triggers again; see LiveCodeBound.
  private static let codes: StaticString = """
    CREATE TABLE registration (
      id TEXT PRIMARY KEY, code BLOB NOT NULL UNIQUE, requestor TEXT NOT NULL, device BLOB NOT NULL,
      device_hash BLOB NOT NULL, public_key TEXT NOT NULL, preselected TEXT, profile TEXT,
      about TEXT NOT NULL, issued INTEGER NOT NULL, expires INTEGER NOT NULL, match_number INTEGER,
      match_choices TEXT, state TEXT NOT NULL, sequence INTEGER NOT NULL, session TEXT,
      operator TEXT, provider TEXT, account TEXT, authentication TEXT, reason TEXT, moment INTEGER,
      delivered INTEGER, signature BLOB NOT NULL
    ) STRICT;
    CREATE INDEX registration_expires ON registration (expires);
    CREATE INDEX registration_requestor ON registration (requestor);
    CREATE INDEX registration_public_key ON registration (public_key);
    CREATE INDEX registration_pending ON registration (expires)
      WHERE state IN ('offered', 'opened', 'claimed');
    CREATE INDEX registration_pending_device ON registration (device_hash, requestor)
      WHERE state IN ('offered', 'opened', 'claimed');
    CREATE INDEX registration_claimed ON registration (session) WHERE state = 'claimed';
    CREATE TABLE live_code_count (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL) STRICT;
    INSERT INTO live_code_count (id, count) VALUES (1, 0);
    CREATE TRIGGER registration_added AFTER INSERT ON registration
      WHEN new.state IN ('offered', 'opened', 'claimed')
      BEGIN UPDATE live_code_count SET count = count + 1; END;
    CREATE TRIGGER registration_gone AFTER DELETE ON registration
      WHEN old.state IN ('offered', 'opened', 'claimed')
      BEGIN UPDATE live_code_count SET count = count - 1; END;
    CREATE TRIGGER registration_ended AFTER UPDATE OF state ON registration
      WHEN old.state IN ('offered', 'opened', 'claimed')
        AND new.state NOT IN ('offered', 'opened', 'claimed')
      BEGIN UPDATE live_code_count SET count = count - 1; END;
    """

  private static let tokens: StaticString = """
    CREATE TABLE authentication (
      id TEXT PRIMARY KEY, requestor TEXT NOT NULL, provider TEXT NOT NULL, account TEXT,
      household TEXT, profile TEXT, source TEXT NOT NULL, issued INTEGER NOT NULL,
      expires INTEGER NOT NULL, device BLOB NOT NULL, device_hash BLOB NOT NULL, identity BLOB,
      registration TEXT, public_key TEXT NOT NULL, about TEXT NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX authentication_device ON authentication (device_hash, requestor);
    CREATE INDEX authentication_requestor ON authentication (requestor, id);
    CREATE INDEX authentication_viewer ON authentication (provider, account, id);
    CREATE INDEX authentication_public_key ON authentication (public_key);
    CREATE INDEX authentication_expires ON authentication (expires);
    CREATE TABLE permit (
      authentication TEXT NOT NULL, resource TEXT NOT NULL, issued INTEGER NOT NULL,
      expires INTEGER NOT NULL, public_key TEXT NOT NULL, signature BLOB NOT NULL,
      PRIMARY KEY (authentication, resource)
    ) STRICT;
    CREATE INDEX permit_expires ON permit (expires);
    CREATE TABLE temporary_pass (
      requestor TEXT NOT NULL, provider TEXT NOT NULL, device_hash BLOB NOT NULL,
      identity BLOB NOT NULL, started INTEGER, resources TEXT NOT NULL, signature BLOB NOT NULL,
      PRIMARY KEY (requestor, provider, device_hash, identity)
    ) STRICT;
    CREATE INDEX temporary_pass_identity ON temporary_pass (requestor, provider, identity);
    CREATE INDEX temporary_pass_provider ON temporary_pass (provider);
    CREATE TABLE session (
      id TEXT PRIMARY KEY, token BLOB NOT NULL, provider TEXT NOT NULL, account TEXT,
      started INTEGER NOT NULL, last_used INTEGER NOT NULL, expires INTEGER NOT NULL,
      user_agent TEXT, address TEXT, signature BLOB NOT NULL
    ) STRICT;
    CREATE INDEX session_token ON session (token);
    CREATE INDEX session_viewer ON session (provider, account);
    CREATE INDEX session_expires ON session (expires);
    """

  private static let provisioning: StaticString = """
    CREATE TABLE requestor (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, settings TEXT NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    CREATE TABLE provider (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, settings TEXT NOT NULL,
      signature BLOB NOT NULL
    ) STRICT;
    CREATE TABLE integration (
      requestor TEXT NOT NULL, provider TEXT NOT NULL, enabled INTEGER NOT NULL, degradation TEXT,
      settings TEXT NOT NULL, signature BLOB NOT NULL, PRIMARY KEY (requestor, provider)
    ) STRICT;
    CREATE INDEX integration_provider ON integration (provider);
    CREATE TABLE account (
      provider TEXT NOT NULL, name TEXT NOT NULL, household TEXT, disabled INTEGER NOT NULL,
      attributes TEXT NOT NULL, signature BLOB NOT NULL, PRIMARY KEY (provider, name)
    ) STRICT;
    CREATE TABLE password (
      provider TEXT NOT NULL, name TEXT NOT NULL, phc TEXT NOT NULL, signature BLOB NOT NULL,
      PRIMARY KEY (provider, name)
    ) STRICT;
    CREATE TABLE entitlement (
      id TEXT PRIMARY KEY, provider TEXT NOT NULL, household TEXT, account TEXT,
      pattern TEXT NOT NULL, effect TEXT NOT NULL, message TEXT, signature BLOB NOT NULL
    ) STRICT;
    CREATE INDEX entitlement_provider ON entitlement (provider, account);
    CREATE TABLE application (
      id TEXT PRIMARY KEY, requestor TEXT NOT NULL, name TEXT NOT NULL, issued INTEGER NOT NULL,
      revoked INTEGER NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    CREATE INDEX application_requestor ON application (requestor);
    CREATE TABLE client (
      id TEXT PRIMARY KEY, secret BLOB NOT NULL, application TEXT NOT NULL, requestor TEXT NOT NULL,
      redirect_uris TEXT NOT NULL, issued INTEGER NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    CREATE INDEX client_application ON client (application);
    CREATE INDEX client_requestor ON client (requestor);
    """

  private static let upkeep: StaticString = """
    CREATE TABLE screen_name (
      screen_hash BLOB PRIMARY KEY, name TEXT NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    CREATE TABLE login_failure (
      subject TEXT PRIMARY KEY, failures INTEGER NOT NULL, last INTEGER NOT NULL,
      signature BLOB NOT NULL
    ) STRICT;
    CREATE INDEX login_failure_last ON login_failure (last);
    CREATE TABLE audit (
      number INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
      subject TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    """

  private static let numbers: StaticString = """
    CREATE TABLE numbers (id TEXT PRIMARY KEY, text TEXT NOT NULL, signature BLOB NOT NULL) STRICT;
    """

  // An attacker who can write the file could add a trigger, which would run with the service's writes. So no trigger is
  // allowed, not even the program's own.
  private static let noTriggers: StaticString = """
    DROP TRIGGER IF EXISTS registration_added;
    DROP TRIGGER IF EXISTS registration_gone;
    DROP TRIGGER IF EXISTS registration_ended;
    DROP TABLE IF EXISTS live_code_count;
    """

  private static let auditHead: StaticString = """
    CREATE TABLE audit_head (
      id TEXT PRIMARY KEY, floor INTEGER NOT NULL, floor_chain BLOB NOT NULL, newest INTEGER NOT NULL,
      chain BLOB NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    """

  // Tables for app sign-ins with a box's account: the box's key, its viewers' decisions about apps, and the requests
  // that were answered.
  private static let parents: StaticString = """
    ALTER TABLE authentication ADD COLUMN parent TEXT;
    ALTER TABLE authentication ADD COLUMN app TEXT;
    CREATE INDEX authentication_parent ON authentication (parent) WHERE parent IS NOT NULL;
    CREATE TABLE platform_box (
      id TEXT PRIMARY KEY, authentication TEXT NOT NULL UNIQUE, box_key BLOB NOT NULL, enrolled INTEGER NOT NULL,
      public_key TEXT NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    CREATE TABLE platform_permission (
      device_hash BLOB NOT NULL, app TEXT NOT NULL, requestor TEXT NOT NULL, granted INTEGER NOT NULL,
      decided INTEGER NOT NULL, signature BLOB NOT NULL, PRIMARY KEY (device_hash, app, requestor)
    ) STRICT;
    CREATE TABLE used_profile_request (
      id TEXT PRIMARY KEY, expires INTEGER NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    CREATE INDEX used_profile_request_expires ON used_profile_request (expires);
    """

  private static let signInColumns: [Column] = [
    .text("id"), .text("requestor"), .text("provider"), .text("account"), .text("household"), .text("profile"),
    .text("source"), .number("issued"), .number("expires"), .bytes("device"), .bytes("device_hash"),
    .bytes("identity"), .text("registration"), .text("public_key"), .text("about"),
  ]

  /// Adds the column for the sign-in that a sign-in depends on.
  ///
  /// It is empty in existing rows, because no sign-in depended on another one before this migration.
  private static let signInsWithParents = Resigning(
    old: .init(raw: "authentication", version: 1, signer: .rowPair, signInColumns),
    new: .init(raw: "authentication", version: 2, signer: .rowPair, signInColumns + [.text("parent"), .text("app")]),
    keyPairs: Tables.keyPairs
  ) { values, _ in values + [.null, .null] }

  // The table has no index, because it holds only a few rows, each for about an hour.
  private static let enrolments: StaticString = """
    CREATE TABLE enrolment (
      id TEXT PRIMARY KEY, requestor TEXT NOT NULL, secret BLOB NOT NULL, uses INTEGER NOT NULL,
      created INTEGER NOT NULL, expires INTEGER NOT NULL, boxes TEXT NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    """

  private static let signingKeyColumns: [Column] = [
    .text("id"), .bytes("private_key"), .text("public_jwk"), .number("created"), .number("signs_from"),
    .number("retired"), .number("needed_until"),
  ]

  /// Adds the column for a signing key's purpose.
  ///
  /// Existing keys get the purpose of media tokens, because all keys signed media tokens before this migration.
  private static let signingKeysOfPurpose = Resigning(
    old: .init(raw: "signing_key", version: 1, signer: .service, signingKeyColumns),
    new: .init(raw: "signing_key", version: 2, signer: .service, signingKeyColumns + [.text("purpose")]),
    keyPairs: Tables.keyPairs
  ) { values, _ in values + [.text("media")] }

  // A sign-in has at most one grant, because a code is redeemed once.
  private static let grants: StaticString = """
    CREATE TABLE oauth_client (
      id TEXT PRIMARY KEY, requestor TEXT NOT NULL, origin TEXT NOT NULL, application TEXT, name TEXT NOT NULL,
      secret BLOB, registration_token BLOB, metadata TEXT NOT NULL, audience TEXT, created INTEGER NOT NULL,
      signature BLOB NOT NULL
    ) STRICT;
    CREATE INDEX oauth_client_requestor ON oauth_client (requestor, id);
    CREATE TABLE oauth_grant (
      id TEXT PRIMARY KEY, client TEXT NOT NULL, authentication TEXT NOT NULL UNIQUE, scope TEXT NOT NULL,
      thumbprint TEXT, created INTEGER NOT NULL, idle INTEGER NOT NULL, ends INTEGER NOT NULL,
      public_key TEXT NOT NULL, generation INTEGER NOT NULL, rotated INTEGER NOT NULL, answer BLOB NOT NULL,
      signature BLOB NOT NULL
    ) STRICT;
    CREATE INDEX oauth_grant_client ON oauth_grant (client, id);
    """

  // With this index, SQLite counts the clients of an origin and finds the oldest one that never paired without reading
  // a row.
  private static let clientsThatRegister: StaticString = """
    ALTER TABLE oauth_client ADD COLUMN paired INTEGER;
    CREATE INDEX oauth_client_age ON oauth_client (origin, requestor, paired, created);
    CREATE TABLE client_invitation (
      id TEXT PRIMARY KEY, requestor TEXT NOT NULL, token BLOB NOT NULL, uses INTEGER NOT NULL,
      created INTEGER NOT NULL, expires INTEGER NOT NULL, used INTEGER NOT NULL, signature BLOB NOT NULL
    ) STRICT;
    """

  private static let clientColumns: [Column] = [
    .text("id"), .text("requestor"), .text("origin"), .text("application"), .text("name"), .bytes("secret"),
    .bytes("registration_token"), .text("metadata"), .text("audience"), .number("created"),
  ]

  /// Adds the column for the time of a client's first grant.
  ///
  /// Existing clients get their registration time, so that they count as paired and none is deleted.
  private static let clientsThatPaired = Resigning(
    old: .init(raw: "oauth_client", version: 1, signer: .service, clientColumns),
    new: .init(raw: "oauth_client", version: 2, signer: .service, clientColumns + [.number("paired")]),
    keyPairs: Tables.keyPairs
  ) { values, _ in values + [values[9]] }

  // Every new code is written to each index, so there are few indexes. Queries of rare operations (removing a
  // requestor, revoking its row key) have none, because they read many rows anyway. The conditions avoid `IN (…)`, for
  // which SQLite built a table of the three states for every row and index.
  private static let codeIndexes: StaticString = """
    DROP INDEX IF EXISTS registration_expires;
    DROP INDEX IF EXISTS registration_requestor;
    DROP INDEX IF EXISTS registration_public_key;
    DROP INDEX IF EXISTS registration_pending;
    DROP INDEX IF EXISTS registration_pending_device;
    CREATE INDEX registration_age ON registration (expires, state);
    CREATE INDEX registration_waiting ON registration (device_hash)
      WHERE state = 'offered' OR state = 'opened' OR state = 'claimed';
    """
}

extension AuditHead {
  /// Writes the signed head (``AuditHead``) for the audit log of an earlier version.
  ///
  /// It covers all lines that verify, even if lines between them are missing.
  static func begin(in context: borrowing WriteContext, _ vault: Vault) throws {
    let rows = SignedRows(vault, VerifiedRowCache())
    var head = AuditHead()
    try rows.each(context, Tables.audit, "\(all: Tables.audit) ORDER BY number") { line in
      head.newest = line.record.number
      head.chain = link(head.chain, line.signature)
      return true
    }
    try rows.insert(context, Tables.auditHead, head)
  }
}
