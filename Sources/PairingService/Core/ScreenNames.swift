internal import RegentEncodings
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

/// The names of an account's screens, the latest last.
///
/// One row of the store holds all of them, so that an account cannot add a row for each device id that its box invents.
struct ScreenNames {
  /// The maximum number of names of one account.
  static let most = 256

  /// Each name with the first half of its screen's hash, in hexadecimal.
  private var entries: [(screen: String, name: String)] = []

  /// Reads the stored text, a JSON list of alternating screens and names.
  init(_ text: String?) {
    let parts = text.flatMap { try? JSONValue(reading: $0, limits: .stored) }?.array?.compactMap(\.string) ?? []
    for place in stride(from: 0, to: parts.count - 1, by: 2) { entries.append((parts[place], parts[place + 1])) }
  }

  /// The text to store; nil when no screen has a name.
  var text: String? {
    guard !entries.isEmpty else { return nil }
    let parts = entries.flatMap { [JSONValue.string($0.screen), .string($0.name)] }
    return String(decoding: JSONValue.array(parts).bytes(), as: UTF8.self)
  }

  var isFull: Bool { entries.count >= Self.most }

  var names: [String] { entries.map(\.name) }

  subscript(_ screen: ScreenHash) -> String? {
    let key = Self.key(screen)
    return entries.first { $0.screen == key }?.name
  }

  /// Sets or removes the name of a screen.
  ///
  /// When there are too many names, the oldest of a screen that is signed out is removed first.
  mutating func set(_ screen: ScreenHash, _ name: String?, signedIn: Set<ScreenHash>) {
    guard self[screen] != name else { return }
    let key = Self.key(screen)
    entries.removeAll { $0.screen == key }
    guard let name else { return }
    if isFull {
      let used = Set(signedIn.map(Self.key))
      entries.remove(at: entries.firstIndex { !used.contains($0.screen) } ?? 0)
    }
    entries.append((key, name))
  }

  private static func key(_ screen: ScreenHash) -> String { Hex.encode(Array(screen.bytes.prefix(16))) }
}

extension ServiceCore {
  /// All names that are stored for the screens of an account, also for screens that are signed out.
  func screenNames(of viewer: Viewer) async throws(StoreError) -> [String] {
    guard let account = hasher.screens(of: viewer) else { return [] }
    return ScreenNames(try await store.names(of: [account])[account]).names
  }

  /// Deletes all names that are stored for the screens of an account.
  func deleteScreenNames(of viewer: Viewer, at now: Instant) async throws(StoreError) {
    guard let account = hasher.screens(of: viewer) else { return }
    try await store.name(account, nil, audit: nil, at: now)
  }

  /// The names that viewers and operators gave these screens; screens without a name have no entry.
  func screenNames(
    of records: [AuthenticationRecord]
  ) async throws(StoreError) -> [AuthenticationID: String] {
    let accounts = Set(records.compactMap { hasher.screens(of: $0.authentication.viewer) })
    let stored = try await store.names(of: accounts.union(records.map(hasher.screen(of:))))
    let lists = stored.filter { accounts.contains($0.key) }.mapValues(ScreenNames.init)
    var names: [AuthenticationID: String] = [:]
    for record in records {
      let screen = hasher.screen(of: record)
      let list = hasher.screens(of: record.authentication.viewer).flatMap { lists[$0] }
      // A screen of a guest has its name in a row of its own, which only operators can add. Names that were stored by
      // releases up to 0.1.0 have such rows too.
      names[record.authentication.id] = list?[screen] ?? stored[screen]
    }
    return names
  }

  /// Sets the name that a viewer or operator chose for a screen; nil removes the name.
  ///
  /// The audit entry is written only if the name changed.
  func setScreenName(
    _ record: AuthenticationRecord, _ name: String?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    let screen = hasher.screen(of: record)
    let viewer = record.authentication.viewer
    guard let account = hasher.screens(of: viewer) else {
      return try await store.name(screen, name, audit: entry, at: now)
    }
    let stored = try await store.names(of: [account, screen])
    var list = ScreenNames(stored[account])
    var signedIn: Set<ScreenHash> = []
    if list.isFull {
      let records = try await store.authentications(
        AuthenticationFilter(viewer: viewer), after: nil, limit: ScreenNames.most * 4, at: now)
      signedIn = Set(records.map(hasher.screen(of:)))
    }
    list.set(screen, name, signedIn: signedIn)
    try await store.name(account, list.text, audit: entry, at: now)
    if stored[screen] != nil { try await store.name(screen, nil, audit: name == nil ? entry : nil, at: now) }
  }
}
