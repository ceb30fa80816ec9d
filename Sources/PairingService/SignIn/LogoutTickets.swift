internal import RegentCryptography
internal import RegentEncodings
package import RegentPairing
package import PairingStore

/// Tickets of devices that sign out.
///
/// A ticket also signs out the browser in which the viewer approved the device, without a tap.
///
/// The service stores nothing about them. A ticket identifies its viewer by a MAC and is valid only for that viewer's
/// sessions that began before it. So it cannot be used again after the session ends, and an attacker who puts a ticket
/// of their own into a page signs no other viewer out.
package struct LogoutTickets: Sendable {
  /// The lifetime of a ticket.
  ///
  /// It is longer than a browser takes to start.
  ///
  /// With an older ticket the page asks for confirmation.
  private static let lifetime: Duration = .seconds(600)
  /// The length of the viewer's MAC in a ticket in bytes: 96 bits, too many to forge without the key.
  private static let markLength = 12

  private let key: HMACKey

  package init(_ keys: some KeyStore) async throws {
    key = try HMACKey(.sha256, Secret(try await keys.keyMaterial(for: .forms)))
  }

  /// The content of a valid logout ticket.
  package struct Mark: Sendable {
    fileprivate let viewer: [UInt8]
    fileprivate let made: Instant

    /// Whether the ticket is for the viewer of this session and newer than the session.
    package func isAbout(_ session: SessionRecord, _ tickets: LogoutTickets) -> Bool {
      // A ticket cannot sign guests out. All guests of a temporary pass share one identity, so the ticket cannot tell
      // their browsers apart.
      session.viewer.account != nil && session.started < made && tickets.mark(of: session.viewer) == viewer
    }
  }

  /// Makes a logout ticket for the viewer whose sign-in on a device has just ended.
  package func ticket(for viewer: Viewer, of requestor: RequestorID, at now: Instant) -> String {
    let made = String(now.milliseconds, radix: 16)
    let mark = mark(of: viewer)
    return "\(made).\(Base64URL.encode(mark)).\(Base64URL.encode(key.code(text(made, mark, requestor))))"
  }

  /// Verifies a logout ticket; nil if its MAC is wrong, it belongs to another requestor, or it is too old.
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
