internal import RegentCryptography
internal import RegentEncodings
internal import RegentPairing
internal import PairingStore

/// Makes and checks the values that bind state to one browser: form tokens, session ids, opened codes and return
/// addresses.
///
/// The service stores none of them. Each is a MAC over the browser's random id and the content, so a value that was
/// made for one browser is worthless in another.
struct BrowserSeals: Sendable {
  /// How long a page may stay open before its form is refused: as long as a session may stay unused.
  private static let formLifetime = SessionRecord.idle
  /// How many opened codes a browser remembers.
  ///
  /// It remembers more than one, because a household has several screens.
  private static let mostCodes = 4
  private static let idLength = 43
  /// The length of an HMAC-SHA-256 in bytes.
  private static let macLength = 32

  private let key: HMACKey

  init(_ keys: some KeyStore) async throws {
    key = try HMACKey(.sha256, Secret(try await keys.keyMaterial(for: .forms)))
  }

  /// Makes a random browser id or session cookie of 256 bits.
  static func newID() -> String { Random.token() }

  /// Whether a text has the form of a browser id or session cookie.
  static func isID(_ text: String) -> Bool {
    text.utf8.count == idLength && (try? Base64URL.decode(text)) != nil
  }

  // MARK: - Forms

  /// The page and viewer for which a form token was made, compared with the present ones.
  enum PageMatch: Equatable {
    /// The form token is forged, belongs to another browser, or is too old.
    case none
    /// The form token shows that this browser was shown the page, but while another viewer, or none, was signed in.
    case browser
    /// The form token shows that this browser was shown the page as the viewer who is signed in now.
    case viewer
  }

  /// The token of every form on a page: one MAC for the browser, and one for the viewer to whom the page is shown.
  ///
  /// The session is not part of it, because the same viewer may sign in twice: in two tabs, or after a lost response.
  func formToken(browserID: String, viewer: Viewer?, at now: Instant) -> String {
    let seconds = String(now.milliseconds / 1000, radix: 16)
    let macs = browserMAC(browserID, seconds) + viewerMAC(browserID, viewer, seconds)
    return "\(seconds).\(Base64URL.encode(macs))"
  }

  /// Checks a form token against this browser and the viewer who is signed in now.
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

  /// Makes an id for a new session: 60 random bits, then 62 bits of a MAC over them and the browser's id.
  ///
  /// ``isSession(_:of:)`` recognizes it at every node and after a restart. So the service knows which browser started
  /// the session even if the response with the cookie was lost.
  func newSessionID(browserID: String) -> SessionID? {
    var head = Random.bytes(8)
    // The version bits of the UUID are set first, so that the MAC covers the bytes as they are written.
    head[6] = head[6] & 0x0F | 0x80
    return SessionID(Random.uuid(custom: head + sessionTag(head, browserID)))
  }

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

  /// Adds a code to the cookie of opened codes; drops the oldest beyond ``mostCodes``.
  func adding(_ code: RegistrationCode, to cookie: String?, browserID: String) -> String {
    let mark = code.wire + Base64URL.encode(key.code(opened(code, browserID)))
    let others = marks(cookie).filter { $0 != mark }
    return ([mark] + others.prefix(Self.mostCodes - 1)).joined(separator: ".")
  }

  /// Whether this browser has opened the code before.
  ///
  /// The pages of a code reveal nothing to a browser that only knows or guesses it.
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

  // MARK: - Return addresses

  /// Makes the cookie with the address of an application's page to which the browser returns.
  func seal(_ way: ReturnAddress, browserID: String) -> String {
    let text = Array("\(way.code.wire)\n\(way.provider.text)\n\(way.address)".utf8)
    return "\(Base64URL.encode(text)).\(Base64URL.encode(key.code(back(text, browserID))))"
  }

  /// Reads the cookie with a return address; nil unless it was made for this browser.
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

/// The parameters of `/api/v1/authenticate`, with which an application's page sends the browser here.
struct ReturnAddress: Hashable, Sendable {
  let code: RegistrationCode
  let provider: ProviderID
  /// The address to which the browser goes after the decision.
  ///
  /// It is checked against the requestor's registration again before the redirect.
  let address: String
}
