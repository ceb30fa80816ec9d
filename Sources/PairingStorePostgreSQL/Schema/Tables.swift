import RegentSQL

extension Schema {
  /// The tables and indexes of the SQLite schema after its last migration (`PairingStoreSQLite/Schema`), and those that
  /// only a cluster needs.
  ///
  /// Texts are sorted by their bytes, as in SQLite and in Swift. Signed columns have the same types as in SQLite: JSON
  /// is text, a Boolean is a number. Tables whose order of writing matters have an ascending `rowid`.
  static let statements: [SQL] = [
    """
    CREATE TABLE cluster (
      id BIGINT PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL, schema BIGINT NOT NULL, live_codes BIGINT
    )
    """,
    """
    CREATE TABLE lane (
      lane BIGINT PRIMARY KEY, node TEXT NOT NULL, n BIGINT NOT NULL, touched TIMESTAMPTZ NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE data_key (purpose TEXT COLLATE "C" PRIMARY KEY, sealed BYTEA NOT NULL)
    """,
    """
    CREATE TABLE key_pair (
      id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL, purpose TEXT COLLATE "C" NOT NULL,
      secret BYTEA NOT NULL, created BIGINT NOT NULL, state TEXT COLLATE "C" NOT NULL,
      signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX key_pair_requestor ON key_pair (requestor, purpose, state)",
    """
    CREATE TABLE signing_key (
      id TEXT COLLATE "C" NOT NULL, private_key BYTEA NOT NULL, public_jwk TEXT COLLATE "C" NOT NULL,
      created BIGINT NOT NULL, signs_from BIGINT NOT NULL, retired BIGINT, needed_until BIGINT,
      purpose TEXT COLLATE "C" NOT NULL, signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE registration (
      id TEXT COLLATE "C" NOT NULL, code BYTEA NOT NULL, requestor TEXT COLLATE "C" NOT NULL,
      device BYTEA NOT NULL, device_hash BYTEA NOT NULL, public_key TEXT COLLATE "C" NOT NULL,
      preselected TEXT COLLATE "C", profile TEXT COLLATE "C", about TEXT COLLATE "C" NOT NULL,
      issued BIGINT NOT NULL, expires BIGINT NOT NULL, match_number BIGINT, match_choices TEXT COLLATE "C",
      state TEXT COLLATE "C" NOT NULL, sequence BIGINT NOT NULL, session TEXT COLLATE "C",
      operator TEXT COLLATE "C", provider TEXT COLLATE "C", account TEXT COLLATE "C",
      authentication TEXT COLLATE "C", reason TEXT COLLATE "C", moment BIGINT, delivered BIGINT,
      signature BYTEA NOT NULL, PRIMARY KEY (id), UNIQUE (code)
    )
    """,
    "CREATE INDEX registration_claimed ON registration (session) WHERE state = 'claimed'",
    "CREATE INDEX registration_age ON registration (expires, state)",
    """
    CREATE INDEX registration_waiting ON registration (device_hash)
    WHERE state = 'offered' OR state = 'opened' OR state = 'claimed'
    """,
    """
    CREATE TABLE authentication (
      id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL, provider TEXT COLLATE "C" NOT NULL,
      account TEXT COLLATE "C", household TEXT COLLATE "C", profile TEXT COLLATE "C",
      source TEXT COLLATE "C" NOT NULL, issued BIGINT NOT NULL, expires BIGINT NOT NULL, device BYTEA NOT NULL,
      device_hash BYTEA NOT NULL, identity BYTEA, registration TEXT COLLATE "C",
      public_key TEXT COLLATE "C" NOT NULL, about TEXT COLLATE "C" NOT NULL, parent TEXT COLLATE "C",
      app TEXT COLLATE "C", signature BYTEA NOT NULL, PRIMARY KEY (id), UNIQUE (device_hash, requestor)
    )
    """,
    "CREATE INDEX authentication_requestor ON authentication (requestor, id)",
    "CREATE INDEX authentication_viewer ON authentication (provider, account, id)",
    "CREATE INDEX authentication_public_key ON authentication (public_key)",
    "CREATE INDEX authentication_expires ON authentication (expires)",
    "CREATE INDEX authentication_parent ON authentication (parent) WHERE parent IS NOT NULL",
    """
    CREATE TABLE permit (
      authentication TEXT COLLATE "C" NOT NULL, resource TEXT COLLATE "C" NOT NULL, issued BIGINT NOT NULL,
      expires BIGINT NOT NULL, public_key TEXT COLLATE "C" NOT NULL, signature BYTEA NOT NULL,
      PRIMARY KEY (authentication, resource)
    )
    """,
    "CREATE INDEX permit_expires ON permit (expires)",
    """
    CREATE TABLE temporary_pass (
      requestor TEXT COLLATE "C" NOT NULL, provider TEXT COLLATE "C" NOT NULL, device_hash BYTEA NOT NULL,
      identity BYTEA NOT NULL, started BIGINT, resources TEXT COLLATE "C" NOT NULL, signature BYTEA NOT NULL,
      rowid BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
      PRIMARY KEY (requestor, provider, device_hash, identity)
    )
    """,
    "CREATE INDEX temporary_pass_identity ON temporary_pass (requestor, provider, identity)",
    "CREATE INDEX temporary_pass_provider ON temporary_pass (provider)",
    """
    CREATE TABLE session (
      id TEXT COLLATE "C" NOT NULL, token BYTEA NOT NULL, provider TEXT COLLATE "C" NOT NULL,
      account TEXT COLLATE "C", started BIGINT NOT NULL, last_used BIGINT NOT NULL, expires BIGINT NOT NULL,
      user_agent TEXT COLLATE "C", address TEXT COLLATE "C", signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX session_token ON session (token)",
    "CREATE INDEX session_viewer ON session (provider, account)",
    "CREATE INDEX session_expires ON session (expires)",
    """
    CREATE TABLE requestor (
      id TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL, settings TEXT COLLATE "C" NOT NULL,
      signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE provider (
      id TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL, kind TEXT COLLATE "C" NOT NULL,
      settings TEXT COLLATE "C" NOT NULL, signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE integration (
      requestor TEXT COLLATE "C" NOT NULL, provider TEXT COLLATE "C" NOT NULL, enabled BIGINT NOT NULL,
      degradation TEXT COLLATE "C", settings TEXT COLLATE "C" NOT NULL, signature BYTEA NOT NULL,
      PRIMARY KEY (requestor, provider)
    )
    """,
    "CREATE INDEX integration_provider ON integration (provider)",
    """
    CREATE TABLE account (
      provider TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL, household TEXT COLLATE "C",
      disabled BIGINT NOT NULL, attributes TEXT COLLATE "C" NOT NULL, signature BYTEA NOT NULL,
      PRIMARY KEY (provider, name)
    )
    """,
    """
    CREATE TABLE password (
      provider TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL, phc TEXT COLLATE "C" NOT NULL,
      signature BYTEA NOT NULL, PRIMARY KEY (provider, name)
    )
    """,
    """
    CREATE TABLE entitlement (
      id TEXT COLLATE "C" NOT NULL, provider TEXT COLLATE "C" NOT NULL, household TEXT COLLATE "C",
      account TEXT COLLATE "C", pattern TEXT COLLATE "C" NOT NULL, effect TEXT COLLATE "C" NOT NULL,
      message TEXT COLLATE "C", signature BYTEA NOT NULL, rowid BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
      PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX entitlement_provider ON entitlement (provider, account)",
    """
    CREATE TABLE application (
      id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL,
      issued BIGINT NOT NULL, revoked BIGINT NOT NULL, signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX application_requestor ON application (requestor)",
    """
    CREATE TABLE client (
      id TEXT COLLATE "C" NOT NULL, secret BYTEA NOT NULL, application TEXT COLLATE "C" NOT NULL,
      requestor TEXT COLLATE "C" NOT NULL, redirect_uris TEXT COLLATE "C" NOT NULL, issued BIGINT NOT NULL,
      signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX client_application ON client (application)",
    "CREATE INDEX client_requestor ON client (requestor)",
    """
    CREATE TABLE screen_name (
      screen_hash BYTEA NOT NULL, name TEXT COLLATE "C" NOT NULL, signature BYTEA NOT NULL,
      PRIMARY KEY (screen_hash)
    )
    """,
    """
    CREATE TABLE login_failure (
      subject TEXT COLLATE "C" NOT NULL, failures BIGINT NOT NULL, last BIGINT NOT NULL,
      signature BYTEA NOT NULL, rowid BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE, PRIMARY KEY (subject)
    )
    """,
    "CREATE INDEX login_failure_last ON login_failure (last)",
    """
    CREATE TABLE audit (
      number BIGINT NOT NULL, at BIGINT NOT NULL, actor TEXT COLLATE "C" NOT NULL,
      action TEXT COLLATE "C" NOT NULL, subject TEXT COLLATE "C" NOT NULL, outcome TEXT COLLATE "C" NOT NULL,
      detail TEXT COLLATE "C" NOT NULL, signature BYTEA NOT NULL, PRIMARY KEY (number)
    )
    """,
    """
    CREATE TABLE numbers (
      id TEXT COLLATE "C" NOT NULL, text TEXT COLLATE "C" NOT NULL, signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE audit_head (
      id TEXT COLLATE "C" NOT NULL, floor BIGINT NOT NULL, floor_chain BYTEA NOT NULL, newest BIGINT NOT NULL,
      chain BYTEA NOT NULL, signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE platform_box (
      id TEXT COLLATE "C" NOT NULL, authentication TEXT COLLATE "C" NOT NULL, box_key BYTEA NOT NULL,
      enrolled BIGINT NOT NULL, public_key TEXT COLLATE "C" NOT NULL, signature BYTEA NOT NULL,
      PRIMARY KEY (id), UNIQUE (authentication)
    )
    """,
    """
    CREATE TABLE platform_permission (
      device_hash BYTEA NOT NULL, app TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL,
      granted BIGINT NOT NULL, decided BIGINT NOT NULL, signature BYTEA NOT NULL,
      PRIMARY KEY (device_hash, app, requestor)
    )
    """,
    """
    CREATE TABLE used_profile_request (
      id TEXT COLLATE "C" NOT NULL, expires BIGINT NOT NULL, signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX used_profile_request_expires ON used_profile_request (expires)",
    """
    CREATE TABLE enrolment (
      id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL, secret BYTEA NOT NULL,
      uses BIGINT NOT NULL, created BIGINT NOT NULL, expires BIGINT NOT NULL, boxes TEXT COLLATE "C" NOT NULL,
      signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE oauth_client (
      id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL, origin TEXT COLLATE "C" NOT NULL,
      application TEXT COLLATE "C", name TEXT COLLATE "C" NOT NULL, secret BYTEA, registration_token BYTEA,
      metadata TEXT COLLATE "C" NOT NULL, audience TEXT COLLATE "C", created BIGINT NOT NULL, paired BIGINT,
      signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX oauth_client_requestor ON oauth_client (requestor, id)",
    "CREATE INDEX oauth_client_age ON oauth_client (origin, requestor, paired, created)",
    """
    CREATE TABLE oauth_grant (
      id TEXT COLLATE "C" NOT NULL, client TEXT COLLATE "C" NOT NULL, authentication TEXT COLLATE "C" NOT NULL,
      scope TEXT COLLATE "C" NOT NULL, thumbprint TEXT COLLATE "C", created BIGINT NOT NULL,
      idle BIGINT NOT NULL, ends BIGINT NOT NULL, public_key TEXT COLLATE "C" NOT NULL,
      generation BIGINT NOT NULL, rotated BIGINT NOT NULL, answer BYTEA NOT NULL, signature BYTEA NOT NULL,
      PRIMARY KEY (id), UNIQUE (authentication)
    )
    """,
    "CREATE INDEX oauth_grant_client ON oauth_grant (client, id)",
    """
    CREATE TABLE client_invitation (
      id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL, token BYTEA NOT NULL,
      uses BIGINT NOT NULL, created BIGINT NOT NULL, expires BIGINT NOT NULL, used BIGINT NOT NULL,
      signature BYTEA NOT NULL, PRIMARY KEY (id)
    )
    """,
  ]
}
