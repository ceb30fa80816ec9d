internal import RegentCryptography
internal import RegentEncodings
internal import RegentPairing
internal import PairingStore

/// Marks by which the service knows again what it gave to one browser: tokens of forms, sessions, opened codes, ways
/// back.
///
/// Nothing of it is kept here: each mark is a MAC over the browser's own random id and what it is about, so a mark that
/// another browser was given is worth nothing.
struct BrowserSeals: Sendable {
  /// How long a page may stay open before its form is refused: as long as an unused sign-in lasts.
  private static let formLifetime = SessionRecord.idle
  /// How many opened codes a browser remembers: a household has several screens.
  private static let mostCodes = 4
  private static let idLength = 43
  /// HMAC-SHA-256.
  private static let macLength = 32

  private let key: HMACKey

  init(_ keys: some KeyStore) async throws {
    key = try HMACKey(.sha256, Secret(try await keys.keyMaterial(for: .forms)))
  }

  /// A random id for a browser, or a cookie for a session: 256 bits.
  static func newID() -> String { Random.token() }

  /// Whether a text has the shape of such an id.
  static func isID(_ text: String) -> Bool {
    text.utf8.count == idLength && (try? Base64URL.decode(text)) != nil
  }

  // MARK: - Forms

  /// What a form's token proves about the page that it stood on.
  enum PageMatch: Equatable {
    /// Nothing: made up, another browser's, or too old.
    case none
    /// This browser was shown the page, while another viewer or none was signed in.
    case browser
    /// This browser was shown the page, as the viewer who is signed in now.
    case viewer
  }

  /// The token of every form on a page: one MAC for the browser, one for the viewer that the page was shown to.
  ///
  /// The session is not part of it: the same viewer may sign in twice, in two tabs or because an answer was lost.
  func formToken(browserID: String, viewer: Viewer?, at now: Instant) -> String {
    let seconds = String(now.milliseconds / 1000, radix: 16)
    let macs = browserMAC(browserID, seconds) + viewerMAC(browserID, viewer, seconds)
    return "\(seconds).\(Base64URL.encode(macs))"
  }

  /// What a token proves for this browser and the viewer who is signed in now.
  func match(_ token: String, browserID: String, viewer: Viewer?, at now: Instant) -> PageMatch {
    guard token.utf8.count <= 128, let dot = token.firstIndex(of: ".") else { return .none }
    let seconds = String(token[..<dot])
    guard let macs = try? Base64URL.decode(String(token[token.index(after: dot)...])),
      macs.count == 2 * Self.macLength,
      key.isValid(Array(macs.prefix(Self.macLength)), for: browserFields(browserID, seconds)),
      let made = Int64(seconds, radix: 16),
      now.since(Instant(milliseconds: made * 1000)) < Self.formLifetime
    else { return .none }
    let viewerFields = viewerFields(browserID, viewer, seconds)
    return key.isValid(Array(macs.suffix(Self.macLength)), for: viewerFields) ? .viewer : .browser
  }

  private func browserMAC(_ browserID: String, _ seconds: String) -> [UInt8] {
    key.code(browserFields(browserID, seconds))
  }

  private func viewerMAC(_ browserID: String, _ viewer: Viewer?, _ seconds: String) -> [UInt8] {
    key.code(viewerFields(browserID, viewer, seconds))
  }

  private func browserFields(_ browserID: String, _ seconds: String) -> [UInt8] {
    var fields = FramedFields(purpose: "form", version: 2)
    fields.append(browserID)
    fields.append(seconds)
    return fields.bytes
  }

  private func viewerFields(_ browserID: String, _ viewer: Viewer?, _ seconds: String) -> [UInt8] {
    var fields = FramedFields(purpose: "form viewer", version: 1)
    fields.append(browserID)
    fields.append(seconds)
    fields.append(viewer?.provider.text)
    fields.append(viewer?.account?.text)
    return fields.bytes
  }

  // MARK: - Sessions

  /// An id for a new session: 60 random bits, then 62 bits of a MAC over them and the browser's id.
  ///
  /// ``isSession(_:of:)`` tells by it, at every node and after a restart, that a browser started the session although
  /// its answer was lost and the browser has no cookie of it.
  func newSessionID(browserID: String) -> SessionID? {
    var head = Random.bytes(8)
    // The version's place in a UUID, so that the MAC covers the bytes as they are written.
    head[6] = head[6] & 0x0F | 0x80
    return SessionID(Random.uuid(custom: head + sessionTag(head, browserID)))
  }

  /// Whether this browser started a session.
  func isSession(_ session: SessionID, of browserID: String) -> Bool {
    guard let bytes = try? Hex.decode(session.text.replacing("-", with: "")), bytes.count == 16 else { return false }
    return Array(bytes.suffix(8)) == sessionTag(Array(bytes.prefix(8)), browserID)
  }

  private func sessionTag(_ head: [UInt8], _ browserID: String) -> [UInt8] {
    var fields = FramedFields(purpose: "session", version: 1)
    fields.append(browserID)
    fields.append(head)
    var tag = Array(key.code(fields.bytes).prefix(8))
    tag[0] = tag[0] & 0x3F | 0x80
    return tag
  }

  // MARK: - Opened codes

  /// The cookie of opened codes with one more; the oldest goes when there are many.
  func adding(_ code: RegistrationCode, to cookie: String?, browserID: String) -> String {
    let mark = code.wire + Base64URL.encode(key.code(opened(code, browserID)))
    let others = marks(cookie).filter { $0 != mark }
    return ([mark] + others.prefix(Self.mostCodes - 1)).joined(separator: ".")
  }

  /// Whether this browser has opened a code: whoever merely knows or guesses one learns nothing about it from its
  /// pages.
  func hasOpened(_ code: RegistrationCode, cookie: String?, browserID: String) -> Bool {
    marks(cookie).contains { mark in
      guard mark.hasPrefix(code.wire), let mac = try? Base64URL.decode(String(mark.dropFirst(8)))
      else { return false }
      return key.isValid(mac, for: opened(code, browserID))
    }
  }

  private func marks(_ cookie: String?) -> [String] {
    (cookie ?? "").split(separator: ".").prefix(Self.mostCodes).map(String.init)
      .filter { $0.utf8.count == RegistrationCode.length + Self.idLength }
  }

  private func opened(_ code: RegistrationCode, _ browserID: String) -> [UInt8] {
    var fields = FramedFields(purpose: "opened", version: 1)
    fields.append(browserID)
    fields.append(code.wire)
    return fields.bytes
  }

  // MARK: - Ways back

  /// Where a programmer's page wants the browser back, as a cookie.
  func seal(_ way: ReturnAddress, browserID: String) -> String {
    let text = Array("\(way.code.wire)\n\(way.provider.text)\n\(way.address)".utf8)
    return "\(Base64URL.encode(text)).\(Base64URL.encode(key.code(back(text, browserID))))"
  }

  /// What such a cookie says, when this browser was given it.
  func returnAddress(_ cookie: String?, browserID: String) -> ReturnAddress? {
    let parts = (cookie ?? "").split(separator: ".").map(String.init)
    guard parts.count == 2, let text = try? Base64URL.decode(parts[0]),
      let mac = try? Base64URL.decode(parts[1]), key.isValid(mac, for: back(text, browserID))
    else { return nil }
    let lines = String(decoding: text, as: UTF8.self).split(
      separator: "\n", maxSplits: 2, omittingEmptySubsequences: false
    ).map(String.init)
    guard lines.count == 3, let code = try? RegistrationCode(typed: lines[0]),
      let provider = ProviderID(lines[1])
    else { return nil }
    return ReturnAddress(code: code, provider: provider, address: lines[2])
  }

  private func back(_ text: [UInt8], _ browserID: String) -> [UInt8] {
    var fields = FramedFields(purpose: "back", version: 1)
    fields.append(browserID)
    fields.append(text)
    return fields.bytes
  }
}

/// What a programmer's page asked for when it sent the browser here (`/api/v1/authenticate`).
struct ReturnAddress: Hashable, Sendable {
  let code: RegistrationCode
  /// The provider that was chosen there.
  let provider: ProviderID
  /// Where the browser goes when the code is approved; checked again before it is sent there.
  let address: String
}
