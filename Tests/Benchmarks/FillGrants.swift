internal import PairingService
internal import PairingStore
internal import PairingStoreSQLite
internal import RegentCryptography
internal import RegentPairing
internal import SQLite
internal import TestSupport

/// The grants of viewers to an OAuth client that a benchmark needs.
struct BenchGrants {
  let count: Int
  let client: String
  /// With `openid` each refresh also makes an ID token, so it takes two signatures.
  let scope: String

  /// The last arguments of `fill-pairing`.
  var words: [String] { ["\(count)", client, scope] }

  /// The number of refresh tokens that are written to a file; their grants are spread over the whole table.
  static let told = 3_200

  /// Inserts grants as if each had been refreshed once, and writes refresh tokens to `FOLDER/refresh-tokens`.
  func fill(_ store: SQLiteStore, _ hasher: KeyedHasher, folder: String, at now: Instant) async throws {
    let texts = try await RefreshTokens(store)
    try await store.fillGrants(count) { number in try record(number, hasher, at: now) }
    let told = min(count, Self.told)
    let lines = try (0..<told).map { place in
      texts.text(of: try Self.id(place * (count / told)), generation: 1)
    }
    try writeFile("\(folder)/refresh-tokens", lines.joined(separator: "\n").utf8)
  }

  private func record(
    _ number: Int, _ hasher: KeyedHasher, at now: Instant
  ) throws -> (AuthenticationRecord, GrantRecord) {
    let device = try Self.name("granted-\(number)") as DeviceID
    let requestor = try Self.name(BenchKeys.requestor) as RequestorID
    let viewer = Viewer(provider: try Self.name("local"), account: try Self.name("viewer"))
    let authentication = Authentication(
      id: try Self.name(Self.uuid(number, 5)), requestor: requestor, viewer: viewer, household: nil, profile: nil,
      source: .regular, issued: now, expires: now + .seconds(30 * 86_400))
    let rowKey: PublicKey = try Self.name("benchRows")
    return (
      AuthenticationRecord(
        authentication: authentication, device: device, deviceHash: hasher.device(device), rowKey: rowKey),
      GrantRecord(
        id: try Self.id(number), client: try Self.name(client), authentication: authentication.id, scope: scope,
        thumbprint: nil, created: now, idle: .seconds(30 * 86_400), ends: authentication.expires, rowKey: rowKey,
        generation: 1, rotated: now,
        // As long as a response with tokens of ES256.
        answer: StoredSecret([UInt8](repeating: 0x61, count: scope.contains("openid") ? 1_500 : 900)))
    )
  }

  private static func id(_ number: Int) throws -> GrantID { try name(uuid(number, 6)) }

  private static func uuid(_ number: Int, _ kind: Int) -> String {
    let digits = String(number)
    return "0000000\(kind)-0000-4000-8000-\(String(repeating: "0", count: 12 - digits.count))\(digits)"
  }

  private static func name<Kind>(_ text: String) throws -> Identifier<Kind> {
    guard let name = Identifier<Kind>(text) else { throw TestSupportError("no name: \(text)") }
    return name
  }
}

extension SQLiteStore {
  /// Inserts sign-ins and their grants in transactions of ten thousand.
  ///
  /// The rows are sealed and signed as in `keep`. The caller must make sure that the ids are unused and that the
  /// client,
  /// the requestor and the row key exist.
  fileprivate func fillGrants(
    _ count: Int, _ record: @escaping @Sendable (Int) throws -> (AuthenticationRecord, GrantRecord)
  ) async throws(StoreError) {
    for first in stride(from: 0, to: count, by: 10_000) {
      try await write { context, rows in
        for number in first..<min(first + 10_000, count) {
          let (signIn, grant) = try record(number)
          try rows.insert(context, Tables.authentications, signIn)
          try rows.insert(context, Tables.grants, grant)
        }
      }
    }
  }
}
