// Names that this house has given up because a reader had to know the picture behind them, each with the target in
// which it must not stand again: in code, in comments, or in the name of a file or folder. The same word may be honest
// elsewhere (`Routes` in HTTPServer, `Shell` in CommandKit), so each entry is a pair.
//
// A name that ends with "(" is a function's: the plain word stays free.

/// A name that must not come back, where, and what it is called today.
struct RetiredName: Sendable {
  let target: String
  let old: String
  let today: String

  init(_ target: String, _ old: String, _ today: String) {
    (self.target, self.old, self.today) = (target, old, today)
  }
}

let retiredNames: [RetiredName] = [
  RetiredName("PairingStoreRows", "Visit", "SignedRows"),
  RetiredName("PairingStoreRows", "visit", "rows"),
  RetiredName("PairingStoreRows", "KnownRows", "VerifiedRowCache"),
  RetiredName("PairingStoreRows", "KnownTable", "VerifiedTableCache"),
  RetiredName("PairingStoreRows", "Findings", "TamperLog"),
  RetiredName("PairingStoreRows", "findings", "tamperLog"),
  RetiredName("PairingStoreRows", "auditFindings", "auditTampering"),
  RetiredName("PairingStoreRows", "known(", "required("),
  RetiredName("PairingStoreRows", "Known", "VerifiedTableCache.CachedRow"),
  RetiredName("PairingStoreRows", "GrantSight", "GrantVersion"),
  RetiredName("PairingStoreRows", "sight", "version"),
  RetiredName("PairingStoreSQLite", "Known", "LiveCodeBound.Counts"),
  RetiredName("PairingStore", "known(", "required("),
  RetiredName("PairingStore", "KeptNumbers", "StoredCounters"),
  RetiredName("PairingStore", "TemporaryPassPlace", "TemporaryPassCursor"),
  RetiredName("PairingStore", "Stage", "ConformanceFixture in Tests/StoreConformance"),
  RetiredName("PairingStore", "Conformance", "Tests/StoreConformance"),
  RetiredName("PairingStore", "Memory", "Tests/PairingStoreMemory"),
  RetiredName("PairingStore", "NodeHearsay", "ClusterStatus"),
  RetiredName("PairingStore", "NodeWish", "NodeInstruction"),
  RetiredName("PairingStore", "wish", "instruction"),
  RetiredName("PairingStore", "GrantSight", "GrantVersion"),
  RetiredName("PairingStore", "sight", "version"),

  RetiredName("PairingService", "PairingDesk", "CodeTransitions"),
  RetiredName("PairingService", "AdminDesk", "AdminRouteBuilder"),
  RetiredName("PairingService", "CodeDeskRoutes", "AdminCodeRoutes"),
  RetiredName("PairingService", "desk", "what it is: codeTransitions, builder"),
  RetiredName("PairingService", "AdminDoor", "AdminGuard"),
  RetiredName("PairingService", "LoginDoor", "SignInCheck"),
  RetiredName("PairingService", "door", "what it is: adminGuard, signInCheck"),
  RetiredName("PairingService", "knock", "verify"),
  RetiredName("PairingService", "Visit", "browserID"),
  RetiredName("PairingService", "Meant", "RecordLookup"),
  RetiredName("PairingService", "meant(", "lookUp("),
  RetiredName("PairingService", "Saver", "RecordWriter"),
  RetiredName("PairingService", "Saving", "RecordWriter"),
  RetiredName("PairingService", "saver", "writer"),
  RetiredName("PairingService", "Admittance", "AdminAccess"),
  RetiredName("PairingService", "admittance", "access"),
  RetiredName("PairingService", "Known", "LiveCodes.CachedCode"),
  RetiredName("PairingService", "known(", "cached("),
  RetiredName("PairingService", "Provisioned", "ProvisioningSnapshot"),
  RetiredName("PairingService", "ProviderRules", "ProviderEntitlements"),
  RetiredName("PairingService", "HeldPermit", "PermitLookup"),
  RetiredName("PairingService", "CodeOffer", "CodeRequest"),
  RetiredName("PairingService", "WayBack", "ReturnAddress"),
  RetiredName("PairingService", "wayBack", "returnAddress"),
  RetiredName("PairingService", "KeyUses", "KeyUseTimes"),
  RetiredName("PairingService", "LastUses", "LastUseTimes"),
  RetiredName("PairingService", "Mood", "NoticePage.Picture"),
  RetiredName("PairingService", "hold(", "keepLease( for a lease, park( for a reply"),
  RetiredName("PairingService", "whereabouts", "auditLabel"),
  RetiredName("PairingService", "KnownClient", "AuthenticatedClient"),
  RetiredName("PairingService", "KnownAccessToken", "VerifiedAccessToken"),
  RetiredName("PairingService", "inVain", "countedRefusal"),
  RetiredName("PairingService", "GrantLook", "GrantState"),
  RetiredName("PairingService", "Places", "UsedAssertions.Table"),
  RetiredName("PairingService", "Telling", "BatchedSender"),
  RetiredName("PairingService", "NodeTalk", "NodeStatusExchange"),
  RetiredName("PairingService", "CodeDoubt", "StoreLookup"),
  RetiredName("PairingService", "doubt(", "lookupNeeded("),
  RetiredName("RegentPairing", "hold(", "park("),

  RetiredName("Administration", "Beginnings", "IDPrefix"),
  RetiredName("Administration", "whereabouts", "auditLabel"),
  RetiredName("regentctl", "Beginnings", "IDPrefix"),
  RetiredName("regentctl", "Talking", "Output"),
  RetiredName("regentctl", "Known", "AddressStep.FoundService"),
  RetiredName("CommandKit", "Port", "OutputStream"),
  RetiredName("CommandKit", "WrittenText", "CapturedText"),

  RetiredName("AccessEnabler", "Audience", "EventDispatcher"),
  RetiredName("AccessEnabler", "audience", "dispatcher"),
  RetiredName("AccessEnabler", "Shell", "EnablerRuntime"),
  RetiredName("AccessEnabler", "shell", "runtime"),
  RetiredName("AccessEnabler", "Worker", "ActionPerformer"),
  RetiredName("AccessEnabler", "worker", "performer"),
  RetiredName("AccessEnabler", "Errand", "PendingCall"),
  RetiredName("AccessEnabler", "Errands", "PendingCalls"),
  RetiredName("AccessEnabler", "errand", "pendingCall"),
  RetiredName("AccessEnabler", "errands", "pendingCalls"),
  RetiredName("AccessEnabler", "AuthenticationWish", "AuthenticationRequest"),
  RetiredName("AccessEnabler", "wish", "details"),
  RetiredName("AccessEnabler", "Mail", "Envelope"),
  RetiredName("AccessEnabler", "mail", "envelope"),
  RetiredName("AccessEnabler", "Watch", "CodeWatch"),
  RetiredName("AccessEnabler", "Unsaved", "TokenStore.UnsavedChange"),
  RetiredName("AccessEnabler", "stage", "delegateEvents"),
  RetiredName("AccessEnabler", "SignOutRest", "UnfinishedSignOut"),
  RetiredName("AccessEnabler", "signOutRest", "unfinishedSignOut"),

  RetiredName("DeviceAgent", "Examination", "DoctorChecks"),
  RetiredName("DeviceAgent", "Abilities", "TerminalCapabilities"),
  RetiredName("DeviceAgent", "abilities", "capabilities"),
  RetiredName("DeviceAgent", "PictureWish", "PictureRequest"),
  RetiredName("DeviceAgent", "Trouble", "PairingObstacle"),
  RetiredName("DeviceAgent", "door", "what it is"),
  RetiredName("DeviceAgent", "PictureKeeper", "PictureOutput"),
  RetiredName("DeviceAgent", "Allowance", "AllowRule"),
  RetiredName("DeviceAgent", "allowances", "allowRules"),
  RetiredName("DeviceAgent", "DaemonHome", "DaemonIdentity"),
  RetiredName("DeviceAgent", "Effort", "Panel.Compression"),
  RetiredName("DeviceAgent", "OAuthKeeper", "OAuthTokenSource"),
  RetiredName("DeviceAgent", "signOutRest", "unfinishedSignOut"),

  RetiredName("PairingStorePostgreSQL", "Line", "DatabaseLink"),
  RetiredName("PairingStorePostgreSQL", "Courier", "NodeAnnouncer"),
  RetiredName("PairingStorePostgreSQL", "courier", "announcer"),
  RetiredName("PairingStorePostgreSQL", "Gathered", "BatchedStatements"),
  RetiredName("PairingStorePostgreSQL", "Occupancy", "DatabaseUseLock"),
  RetiredName("SQLite", "monotonicNow", "Clocks.monotonicNanoseconds"),

  RetiredName("regentd", "Places", "ServicePaths"),
  RetiredName("regentd", "ServicePlaces", "ServicePaths"),
  RetiredName("regentd", "Gate", "AdmissionHandler"),
  RetiredName("regentd", "gate", "admission"),
  RetiredName("regentd", "door", "what it is: AdminGuard, listener"),

  RetiredName("HTTPServer", "BelowPath", "PathPrefixHandler"),
  RetiredName("HTTPServer", "Newcomer", "AcceptedConnection"),
  RetiredName("HTTPServer", "newcomer", "accepted"),
  RetiredName("RegentCryptography", "LibraryLife", "OpenSSLLifetime"),
  RetiredName("RegentPlatform", "HeldFile", "ClaimedFile"),
  RetiredName("SQLite", "HeldFile", "ClaimedFile"),
  RetiredName("SQLite", "Fate", "TransactionOutcome"),
  RetiredName("SQLite", "Order", "NextStep"),
  RetiredName("SQLite", "Sabotage", "FaultyDisk.Lie in Tests/StorageFaults"),
  RetiredName("SQLite", "sabotage", "FaultyDisk.lie(about:) in Tests/StorageFaults"),
]

/// Files whose name said nothing of what they held, while the word itself is honest in the target.
let retiredFiles = [
  "regentd/Errors.swift", "regentd/Routes.swift", "regentd/Gate.swift", "regentd/Places.swift",
]

/// Names that modules had before they carried ours: an app's own `JSON` or `Platform` would collide with them.
let retiredModules: Set = [
  "JSON", "Platform", "HTTPCodec", "HTTPClient", "Cryptography", "Pairing", "PairingWire", "CCurl", "CLinux",
  "COpenSSL",
]

extension Substring {
  /// Whether a name stands in the text as a whole word.
  func mentions(_ name: String) -> Bool {
    var rest = self
    while let found = rest.firstRange(of: name) {
      let before = found.lowerBound == startIndex ? nil : self[index(before: found.lowerBound)]
      let after = found.upperBound == endIndex || name.hasSuffix("(") ? nil : self[found.upperBound]
      if before?.isPartOfName != true, after?.isPartOfName != true { return true }
      rest = rest[found.upperBound...]
    }
    return false
  }
}

extension Character {
  fileprivate var isPartOfName: Bool { isLetter || isNumber || self == "_" }
}
