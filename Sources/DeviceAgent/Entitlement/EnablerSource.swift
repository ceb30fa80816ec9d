import AccessEnabler
import CommandKit
import RegentCryptography
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import RegentPairingWire
import RegentPlatform

/// An ``EntitlementSource`` that uses the SDK in this process, without a daemon.
actor EnablerSource: EntitlementSource {
  private let enabler: AccessEnabler
  private let requestor: String
  private let credentials: AgentCredentials
  private let finder: ServiceFinder?
  /// The service's address, if it does not answer at the configured one.
  private var service: AbsoluteURL?
  private var providerList: [MVPD] = []
  /// When the service last answered, in nanoseconds since boot.
  private var configuredAt: UInt64?
  private var configuring: Task<EntitlementError?, Never>?

  private var telling: Task<Void, Never>?

  /// How long the known state is used while the box is signed in, in nanoseconds.
  ///
  /// After this time the service is asked whether another process has signed the box out or in.
  private static let longestTrust: UInt64 = 3_600_000_000_000
  /// How long the known state is used while the box is signed out, in nanoseconds.
  ///
  /// The time is short, because another process may be signing the box in.
  private static let trustWhileSignedOut: UInt64 = 2_000_000_000

  init(_ settings: AgentSettings, buildTime: Int64) throws(CommandError) {
    enabler = try settings.enabler(buildTime: buildTime)
    requestor = try settings.neededRequestor()
    credentials = try settings.credentials()
    finder = ServiceFinder(settings)
    service = settings.currentServices.first
  }

  func status() async throws(CommandError) -> AgentStatus {
    // If the service cannot be reached, the sign-in state that is stored on the box is reported.
    if let error = await configureIfNeeded(), !error.isPassing { throw CommandError(error) }
    var status = AgentStatus(requestor: requestor, deviceID: enabler.deviceID)
    do throws(EntitlementError) {
      let signIn = try await enabler.requireSignIn()
      status.signIn = SignInFacts(
        provider: signIn.provider.id, providerName: signIn.provider.displayName,
        user: signIn.userID, expires: signIn.expires.milliseconds,
        source: signIn.source.rawValue)
    } catch {
      status.isAccountDisabled = error.kind == .accountDisabled
    }
    return status
  }

  /// The box's stored sign-in.
  ///
  /// Sends no request.
  nonisolated func kept() async -> SignIn? { await enabler.keptSignIn(of: requestor) }

  /// Sends a request of the box's shared account (the platform account) to the service.
  nonisolated func call(_ call: BoxCall) async throws(CommandError) -> BoxAnswer {
    do throws(EntitlementError) {
      return try await enabler.call(call, for: requestor)
    } catch {
      throw CommandError(error)
    }
  }

  /// The time by the service's clock.
  nonisolated func serviceTime() async -> Instant { await enabler.serviceTime(for: requestor) }

  nonisolated var box: (requestor: String, device: String) { (requestor, enabler.deviceID) }

  func providers() async throws(CommandError) -> [ProviderEntry] {
    try await configured()
    return providerList.map {
      ProviderEntry(id: $0.id, name: $0.displayName, isFeatured: $0.isFeatured)
    }
  }

  func preauthorize(_ resources: [String]) async throws(CommandError) -> [String] {
    try await ask { enabler throws(EntitlementError) in try await enabler.preauthorize(resources) }
  }

  func authorize(_ resource: String, data: [String: String]) async throws(CommandError) -> MediaGrant {
    let access = try await ask(about: resource) { enabler throws(EntitlementError) in
      try await enabler.authorize(resource, data: data)
    }
    return MediaGrant(
      resource: access.resource, token: access.serialized, expires: access.expires.milliseconds,
      provider: access.provider)
  }

  func metadata(_ key: String) async throws(CommandError) -> JSONValue {
    let found = try await ask { enabler throws(EntitlementError) in
      try await enabler.metadata(.user(key))
    }
    return found.value.map { $0.json } ?? .null
  }

  func signOut() async throws(CommandError) -> SignOutEnd {
    _ = await configureIfNeeded()
    let wasSignedIn = await enabler.currentSignIn() != nil
    do throws(EntitlementError) {
      try await enabler.signOut()
    } catch {
      throw CommandError(error)
    }
    await tellOfSignOut()
    let unfinished = await enabler.unfinishedSignOut(of: requestor)
    guard let why = unfinished.unkept else {
      return wasSignedIn ? unfinished.isUntold ? .untold : .told : .wasNotSignedIn
    }
    throw CommandError(
      "this box is signed out, but that could not be stored, so a restart may undo it: \(why)",
      hint: "free space on the disk, then run regent logout again", code: "storage")
  }

  /// Retries in the background until the service has confirmed a sign-out, including one from before a restart.
  ///
  /// When the service answers, the SDK reports the sign-out, and the apps that used the box's sign-in are signed out.
  /// If a command ends earlier, the next command continues.
  func tellOfSignOut() async {
    guard await enabler.unfinishedSignOut(of: requestor).isUntold else { return }
    telling?.cancel()
    telling = Task {
      var backoff = Backoff()
      while !Task.isCancelled, await !configureAnew() { try? await Task.sleep(for: backoff.next()) }
    }
  }

  func header(method: String, path: String) async throws(CommandError) -> String {
    guard case .keyPair(let publicKey, let secret) = credentials else {
      throw CommandError(
        "a software statement cannot sign calls; that needs a key pair",
        hint: "add --public-key KEY and --secret-file FILE (from regentctl key issue REQUESTOR)")
    }
    return try SignedHeader.header(
      method: method, path: path, requestor: requestor, publicKey: publicKey, secret: secret,
      now: Clocks.wallMilliseconds())
  }

  private func ask<Answer: Sendable>(
    about resource: String? = nil, isRepeated: Bool = false,
    _ question: @Sendable (AccessEnabler) async throws(EntitlementError) -> Answer
  ) async throws(CommandError) -> Answer {
    try await configured()
    do throws(EntitlementError) {
      return try await question(enabler)
    } catch {
      // Meanwhile the service was found at another address, and the SDK was given that address.
      if error.kind == .superseded, !isRepeated { return try await ask(about: resource, isRepeated: true, question) }
      noteAbsence(error)
      throw resource.map { CommandError(error, about: $0) } ?? CommandError(error)
    }
  }

  private func configured() async throws(CommandError) {
    if let error = await configureIfNeeded() { throw CommandError(error) }
  }

  /// Asks the service for its providers, regardless of when it was asked last.
  ///
  /// The SDK also reports unconfirmed sign-outs.
  ///
  /// - Returns: whether the service answered.
  func configureAnew() async -> Bool {
    configuredAt = nil
    return await configureIfNeeded() == nil
  }

  /// Asks the service for its providers and the box's sign-in, unless the service answered recently.
  private func configureIfNeeded() async -> EntitlementError? {
    let isSignedIn = configuredAt == nil ? false : await enabler.currentSignIn() != nil
    let trust = isSignedIn ? Self.longestTrust : Self.trustWhileSignedOut
    if let configuredAt, Clocks.bootNanoseconds(since: configuredAt) < trust { return nil }
    if let configuring { return await configuring.value }
    let task = Task {
      let result = await self.configureOrFind()
      // Here, and not by each caller that waits: a late one would forget a task that began after this one.
      configuring = nil
      switch result {
      case .success(let providers):
        providerList = providers
        configuredAt = Clocks.bootNanoseconds()
        return EntitlementError?.none
      case .failure(let error): return error
      }
    }
    configuring = task
    return await task.value
  }
}

extension EnablerSource {
  /// Configures the SDK; if the service cannot be reached, searches it once on the local network.
  private func configureOrFind() async -> Result<[MVPD], EntitlementError> {
    let services = finder == nil ? nil : service.map { [$0.description] }
    do throws(EntitlementError) {
      return .success(try await enabler.configure(requestor: requestor, services: services))
    } catch {
      guard error.kind == .unreachable, let finder, let current = service,
        let moved = await finder.find(insteadOf: current)
      else { return .failure(error) }
      service = moved
      do throws(EntitlementError) {
        return .success(try await enabler.configure(requestor: requestor, services: [moved.description]))
      } catch {
        return .failure(error)
      }
    }
  }

  /// After a failure because the service cannot be reached, the next request configures again, which searches it.
  fileprivate func noteAbsence(_ error: EntitlementError) {
    if finder != nil, error.kind == .unreachable { configuredAt = nil }
  }
}

extension MetadataValue {
  fileprivate var json: JSONValue {
    switch self {
    case .text(let text): .string(text)
    case .list(let texts): .array(texts.map { .string($0) })
    case .number(let number): .integer(number)
    case .map(let entries):
      .object(JSONObject(entries.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }))
    case .structure(let members):
      .object(JSONObject(members.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) }))
    }
  }
}

extension SignedHeader {
  /// The signed header for one request of another program.
  ///
  /// The signature does not cover the query.
  static func header(
    method: String, path: String, requestor: String, publicKey: String, secret: Secret, now: Int64
  ) throws(CommandError) -> String {
    guard let requestor = RequestorID(requestor), let publicKey = PublicKey(publicKey) else {
      throw .usage(
        "the requestor's id or the public key is not valid",
        hint: "compare --requestor and --public-key with what regentctl key issue printed")
    }
    let method = method.uppercased()
    guard ["GET", "POST", "DELETE"].contains(method) else {
      throw .usage("\"\(method)\" is not a supported method", hint: "use GET, POST or DELETE")
    }
    guard let signed = SignedHeaderPath.signed(path) else {
      throw .usage(
        "\"\(path)\" is not a valid path", hint: "use a percent-encoded path such as /api/v1/authorize")
    }
    let text = SignedHeader.textToSign(
      method: method, requestor: requestor, nonce: Random.uuid(), signatureMethod: .hmacSHA256,
      requestTime: Instant(milliseconds: now), requestURI: signed)
    do throws(KeyError) {
      let key = try HMACKey(.sha256, secret)
      return SignedHeader.header(textToSign: text, publicKey: publicKey, signature: key.code(text))
    } catch {
      throw .usage("the secret is empty", hint: "check --secret-file")
    }
  }
}

/// The part of a request's address that the signature covers.
enum SignedHeaderPath {
  /// Returns the path without the query, or `nil` if the text has no valid path.
  static func signed(_ path: String) -> String? {
    let whole = path.contains("://") ? try? AbsoluteURL(parsing: path) : nil
    let signed = String((whole?.path ?? path).prefix { $0 != "?" && $0 != "#" })
    // A comma would start another field of the header, and a space another word.
    guard signed.hasPrefix("/"), signed.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ",") })
    else { return nil }
    return signed
  }
}
