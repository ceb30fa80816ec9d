internal import RegentCryptography
internal import RegentEncodings
internal import RegentPairing
internal import PairingStore

/// Marks by which the service knows again what it gave to one browser: tokens of forms, opened codes, ways back.
///
/// Nothing of it is kept here: each mark is a MAC over the browser's own random id and what it is about, so a mark that
/// another browser was given is worth nothing.
struct BrowserSeals: Sendable {
  /// How long a page may stay open before its form is refused: as long as an unused sign-in lasts.
  private static let formLifetime = SessionRecord.idle
  /// How many opened codes a browser remembers: a household has several screens.
  private static let mostCodes = 4
  private static let idLength = 43

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

  /// The token of every form on a page: it holds for this browser, as long as it is signed in as it is now.
  func formToken(browserID: String, session: SessionID?, at now: Instant) -> String {
    let seconds = String(now.milliseconds / 1000, radix: 16)
    return "\(seconds).\(Base64URL.encode(key.code(form(browserID, session, seconds))))"
  }

  /// Whether a form's token is one of ours, for this browser and session, and not too old.
  func accepts(_ token: String, browserID: String, session: SessionID?, at now: Instant) -> Bool {
    guard token.utf8.count <= 64, let dot = token.firstIndex(of: ".") else { return false }
    let seconds = String(token[..<dot])
    guard let mac = try? Base64URL.decode(String(token[token.index(after: dot)...])),
      key.isValid(mac, for: form(browserID, session, seconds)),
      let made = Int64(seconds, radix: 16)
    else { return false }
    return now.since(Instant(milliseconds: made * 1000)) < Self.formLifetime
  }

  private func form(_ browserID: String, _ session: SessionID?, _ seconds: String) -> [UInt8] {
    var fields = FramedFields(purpose: "form", version: 1)
    fields.append(browserID)
    fields.append(session?.text)
    fields.append(seconds)
    return fields.bytes
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
