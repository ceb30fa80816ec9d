import RegentCryptography
internal import RegentEncodings
import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import RegentPairingWire

/// Parses the responses of services.
///
/// A response that is not of this protocol counts neither as success nor as refusal.
struct AnswerReader: Sendable {
  private static let logoutTicket = HeaderName(known: PairingHeader.logoutTicket)
  var metadataKey: RSADecryptionKey?

  func answer(to operation: OutgoingCall.Operation, _ response: ClientResponse) -> ServiceAnswer {
    if case .box(.decisions) = operation, response.status == .notModified { return .box(BoxAnswer()) }
    guard response.status.isSuccess else { return .failed(failure(response)) }
    do throws(DocumentError) {
      switch operation {
      case .configuration:
        let document = try ConfigDocument(json: response.body)
        return .configuration(
          ServiceConfiguration(
            providers: document.providers.map(MVPD.init), domains: document.domains,
            exposesDeviceID: document.exposesDeviceID))
      case .authentication:
        return .authentication(
          GrantedAuthentication(try AuthenticationDocument(json: response.body), response))
      case .createCode, .readCode, .awaitCode:
        return .code(CodeRecord(try RegcodeDocument(json: response.body), response))
      case .authorize:
        let document = try AuthorizationDocument(json: response.body)
        return .permit(StoredPermit(expires: document.expires, source: response.source))
      case .mediaToken:
        return mediaToken(try MediaTokenDocument(json: response.body))
      case .preauthorize:
        let document = try PreauthorizationDocument(json: response.body)
        // A result without allowed resources is an empty list or null. A document without the member `resources` is not
        // a response to this request.
        guard !document.resources.isEmpty || response.names("resources") else {
          return .failed(unreadable("the answer has no list of resources", response))
        }
        return .preauthorized(document.resources.filter(\.isAuthorized).map(\.id))
      case .userMetadata:
        let document = try UserMetadataDocument(json: response.body)
        return .metadata(
          Dictionary(
            document.attributes.map { ($0.name, clear($0)) }, uniquingKeysWith: { _, last in last })
        )
      case .profileRequest:
        // The profile request (the service's challenge) can be any text. But a web page, such as a captive portal's, is
        // none.
        return response.isHTML || response.body.isEmpty
          ? .failed(unreadable("the answer is not one of this protocol", response))
          : .profileRequest(Base64.encode(response.body))
      case .box:
        return response.isHTML
          ? .failed(unreadable("the answer is not one of this protocol", response))
          : .box(
            BoxAnswer(
              body: response.body.isEmpty ? nil : String(decoding: response.body, as: UTF8.self),
              tag: response.header(.etag)))
      case .platform: return .platform(.absent)
      case .exchange where response.header(.preferenceApplied)?.contains("return=representation") ?? false:
        return .authentication(
          GrantedAuthentication(try AuthenticationDocument(json: response.body), response))
      case .deleteCode, .freePreview, .logout, .exchange:
        if operation == .logout, let ticket = response.header(Self.logoutTicket) { return .signedOut(ticket: ticket) }
        // A confirmation has no content to parse. But a web page, such as a captive portal's, is not a confirmation.
        return response.isHTML
          ? .failed(unreadable("the answer is not one of this protocol", response)) : .done
      }
    } catch {
      return .failed(unreadable(error.description, response))
    }
  }

  private func unreadable(_ why: String, _ response: ClientResponse) -> ServiceFailure {
    ServiceFailure(
      kind: response.isFromPortal ? .captivePortal : .unreadable,
      message: why + Self.advice(response))
  }

  private func mediaToken(_ document: MediaTokenDocument) -> ServiceAnswer {
    guard let text = try? Base64.decode(document.serializedToken), !text.isEmpty else {
      return .failed(
        ServiceFailure(kind: .unreadable, message: "the service's media token is not base64"))
    }
    return .mediaToken(
      MediaAccess(
        resource: document.resource, token: String(decoding: text, as: UTF8.self),
        serialized: document.serializedToken, expires: document.expires,
        provider: document.provider))
  }

  /// Decrypts an attribute if the app gave its key.
  ///
  /// Otherwise returns the attribute unchanged.
  private func clear(_ attribute: UserMetadataDocument.Attribute) -> Metadata {
    let asItCame = Metadata(
      value: MetadataValue(attribute.value), isEncrypted: attribute.isEncrypted)
    guard attribute.isEncrypted, let metadataKey, case .text(let text) = attribute.value else { return asItCame }
    if let json = JWE.decrypt(text, with: metadataKey) {
      return MetadataValue(json: json).map { Metadata(value: $0, isEncrypted: false) } ?? asItCame
    }
    guard let sealed = try? Base64.decode(text) else { return asItCame }
    // Try PKCS #1 padding last, because decryption with a wrong key may seem to succeed with it.
    for padding in [RSAPadding.oaepSHA256, .oaepSHA1, .pkcs1] {
      if let secret = try? metadataKey.decrypt(sealed, padding),
        let clear = String(validating: secret.exposedBytes(), as: UTF8.self)
      {
        let isList = Self.lists.contains(attribute.name)
        let value: MetadataValue =
          isList ? .list(clear.split(separator: ",").map(String.init)) : .text(clear)
        return Metadata(value: value, isEncrypted: false)
      }
    }
    return asItCame
  }

  /// The names of attributes whose encrypted value is a comma-separated list in the short form.
  private static let lists: Set = ["zip", "channelID"]

  /// The failure for an error response.
  ///
  /// Statuses that mean "not signed in", "denied" or "gone" count only with a document of this protocol. Otherwise a
  /// captive portal's page could sign a device out.
  func failure(_ response: ClientResponse) -> ServiceFailure {
    let status = Int(response.status.rawValue)
    let document = try? ErrorDocument(json: response.body)
    let needsDocument = (300..<500).contains(status) && ![401, 408, 429].contains(status)
    guard document != nil || !needsDocument else {
      return unreadable("the answer (\(status)) is not one of this protocol", response)
    }
    return ServiceFailure(
      kind: .status(status), code: document?.enhancement?.code ?? response.decisionReason,
      message: document?.message ?? ErrorDocument.message(for: status),
      details: document?.details, retryAfter: response.retryAfter)
  }

  /// What the user can do when a proxy, another program or a captive portal answered in place of the service.
  private static func advice(_ response: ClientResponse) -> String {
    let status = Int(response.status.rawValue)
    if (301...308).contains(status), let location = response.header(.location) {
      let place = (try? ClientURL(location))?.origin.description
      return ": it leads elsewhere; " + (place.map { "write \($0) if that is the service, or " } ?? "")
        + "sign in to the network first if it is a guest network's page"
    }
    let text = String(decoding: response.body.prefix(2_000), as: UTF8.self).lowercased()
    if status == 400, text.contains("https") || text.contains("tls") || text.contains("ssl") {
      return ": that port speaks TLS; write https:// in the service's address"
    }
    return response.isHTML
      ? ": a web page; check the address, or sign in to the network first if it is a guest network's page" : ""
  }

  /// Converts the error of a request without a response to a service failure.
  static func failure(_ error: ClientError) -> ServiceFailure {
    let kind: ServiceFailure.Kind =
      switch error.kind {
      case .tls(.clockAhead), .tls(.clockBehind): .clockWrong
      case .tls: .unsafeConnection
      case .redirectRefused where error.origin?.scheme == .http: .captivePortal
      case .redirectRefused, .malformed, .tooLarge: .unreadable
      case .invalidRequest, .unreachable, .timedOut, .connectionLost, .connectionSilent, .cancelled,
        .libraryMissing, .system, .proxyRefused:
        .unreachable
      }
    var failure = ServiceFailure(kind: kind, message: error.description)
    switch error.kind {
    case .tls(let fault): failure.fault = fault
    case .connectionLost: failure.absence = .lost
    case .connectionSilent: failure.absence = .silent
    case .unreachable(.refused): failure.absence = .refused
    default: break
    }
    // These failures may be temporary, so the hint is appended to the message. A failure with a separate hint
    // (`failure.hint`) is one that only a repair of the box ends.
    switch error.kind {
    case .tls, .connectionLost, .connectionSilent, .redirectRefused, .malformed, .proxyRefused:
      if let hint = error.hint { failure.message += "; \(hint)" }
    default: break
    }
    // The TLS library is missing. Only installing it helps, so the hint says that and gives no advice about the
    // network.
    if case .libraryMissing = error.kind { failure.hint = error.hint }
    return failure
  }
}

extension MVPD {
  init(_ listed: ListedProvider) {
    self.init(
      id: listed.id, displayName: listed.displayName, logoURL: listed.logoURL,
      enablePlatformServices: listed.enablesPlatformServices,
      boardingStatus: listed.boarding == .none ? nil : listed.boarding,
      isTemporaryPass: listed.isTemporaryPass, isFeatured: listed.isFeatured,
      wantsSecureSheet: listed.wantsSecureSheet, wantsIdentity: listed.wantsIdentity)
  }
}

extension GrantedAuthentication {
  /// Determines the source of the sign-in from the response's header and from the prefix of the user id.
  fileprivate init(_ document: AuthenticationDocument, _ response: ClientResponse) {
    let source: SignIn.Source =
      switch response.source {
      case .temppass: .temporary
      case .degradation: .degraded
      case .mvpd:
        if document.userID.hasPrefix("temppass_") {
          .temporary
        } else if document.userID.hasPrefix("degraded_") {
          .degraded
        } else {
          response.header(HeaderName(known: PairingHeader.decisionSource)) == PairingHeader.platformSource
            ? .platform : .regular
        }
      }
    self.init(
      provider: document.provider, userID: document.userID, expires: document.expires,
      source: source)
  }
}

extension CodeRecord {
  fileprivate init(_ document: RegcodeDocument, _ response: ClientResponse) {
    self.init(
      code: document.code, url: document.verificationURL,
      urlComplete: document.verificationURLComplete, expires: document.expires,
      status: document.status, sequence: document.sequence, match: document.match,
      wasHeld: response.header(.preferenceApplied)?.contains("wait") ?? false)
  }
}

extension ClientResponse {
  /// Whether the body contains a member with this name.
  fileprivate func names(_ member: StaticString) -> Bool {
    body.firstRange(of: Array("\"\(member)\"".utf8)) != nil
  }

  /// What allowed or denied the resource, by the protocol's header: `mvpd`, `temppass` or `degradation`.
  fileprivate var source: DecisionSource {
    header(HeaderName(known: PairingHeader.decisionSource)).flatMap(DecisionSource.init) ?? .mvpd
  }

  /// Whether a captive portal answered: with a page, or a redirect to one, where the service would send neither.
  fileprivate var isFromPortal: Bool {
    // With TLS, no other server can answer in place of the service.
    guard url.origin.scheme == .http else { return false }
    let status = Int(self.status.rawValue)
    if status == 511 { return true }
    if (301...308).contains(status) { return header(.location) != nil }
    // A proxy in front of a service that is down sends a page with these statuses too.
    return isHTML && status < 500 && status != 404
  }

  /// Why the resource was denied, from a header.
  ///
  /// Services send this header even to apps that have not turned on enhanced errors.
  fileprivate var decisionReason: EnhancedCode? {
    header(HeaderName(known: PairingHeader.decisionReason)).flatMap(EnhancedCode.init)
  }

  fileprivate var isHTML: Bool {
    header(.contentType).map { $0.lowercased().hasPrefix("text/html") }
      ?? (body.first == UInt8(ascii: "<"))
  }

  fileprivate var retryAfter: Duration? {
    header(.retryAfter).flatMap { Int64($0) }.flatMap { (0...86_400).contains($0) ? $0 : nil }
      .map { .seconds($0) }
  }
}
