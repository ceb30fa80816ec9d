internal import RegentCryptography
internal import RegentEncodings
package import RegentPairing
package import PairingStore

/// What a device that signs out is given for the browser it signed in with: that browser is then signed out as well,
/// without a tap.
///
/// Nothing of it is kept here. A ticket names its viewer by a MAC and counts for sessions of that viewer alone which
/// began before it: it is used up with the session that it ends. Whoever carries a ticket of his own to a page that
/// others open signs nobody out there but himself.
package struct LogoutTickets: Sendable {
  /// Longer than a browser takes to start; after that the page asks.
  private static let lifetime: Duration = .seconds(600)
  /// Of the viewer's MAC: 96 bits, which nobody who has no key can aim at.
  private static let markLength = 12

  private let key: HMACKey

  package init(_ keys: some KeyStore) async throws {
    key = try HMACKey(.sha256, Secret(try await keys.keyMaterial(for: .forms)))
  }

  /// What a ticket says.
  package struct Mark: Sendable {
    fileprivate let viewer: [UInt8]
    fileprivate let made: Instant

    /// Whether it is about this browser's sign-in.
    package func isAbout(_ session: SessionRecord, _ tickets: LogoutTickets) -> Bool {
      // Guests of a pass share one name: nobody could tell whose browser it is.
      session.viewer.account != nil && session.started < made && tickets.mark(of: session.viewer) == viewer
    }
  }

  /// A ticket for the viewer whose sign-in on a device has just ended.
  package func ticket(for viewer: Viewer, of requestor: RequestorID, at now: Instant) -> String {
    let made = String(now.milliseconds, radix: 16)
    let mark = mark(of: viewer)
    return "\(made).\(Base64URL.encode(mark)).\(Base64URL.encode(key.code(text(made, mark, requestor))))"
  }

  /// What a ticket says, when it is one of ours, of this requestor and not too old.
  package func read(_ ticket: String, of requestor: RequestorID?, at now: Instant) -> Mark? {
    let parts = ticket.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard let requestor, ticket.utf8.count <= 128, parts.count == 3, let mark = try? Base64URL.decode(parts[1]),
      let code = try? Base64URL.decode(parts[2]), key.isValid(code, for: text(parts[0], mark, requestor)),
      let made = Int64(parts[0], radix: 16).map(Instant.init(milliseconds:)), now.since(made) < Self.lifetime
    else { return nil }
    return Mark(viewer: mark, made: made)
  }

  fileprivate func mark(of viewer: Viewer) -> [UInt8] {
    var fields = FramedFields(purpose: "logout viewer", version: 1)
    fields.append(viewer.provider.text)
    fields.append(viewer.account?.text)
    return Array(key.code(fields.bytes).prefix(Self.markLength))
  }

  private func text(_ made: String, _ mark: [UInt8], _ requestor: RequestorID) -> [UInt8] {
    var fields = FramedFields(purpose: "logout", version: 1)
    fields.append(made)
    fields.append(mark)
    fields.append(requestor.text)
    return fields.bytes
  }
}
