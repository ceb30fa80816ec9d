import RegentCryptography
import RegentHTTPClient
import RegentHTTPCodec
import RegentPairing
import RegentPairingWire
import RegentPlatform

/// Sends the state machine's requests over HTTP, with the app's credentials.
final class ServiceCaller: Sendable {
  /// The answer to a request, and whether the device's clock was found wrong.
  struct Outcome: Sendable {
    var answer: ServiceAnswer
    /// Whether this device's clock was found wrong for the first time.
    var isClockWrong = false
  }

  let clock: ServerClock
  let client: Client
  private let configuration: EnablerConfiguration
  private let deviceID: String
  private let device: DeviceInformation
  private let reader: AnswerReader
  private let store: TokenStore
  private let identity: Locked<Identity>

  private struct Identity: Sendable {
    var signer: Result<CallSigner, ServiceFailure>?
    var registrar: Registrar?
    var signedRequestorID: String?
  }

  init(
    _ configuration: EnablerConfiguration, _ store: TokenStore, _ device: DeviceInformation,
    onNetworkChange: @escaping @Sendable () -> Void
  ) {
    self.configuration = configuration
    self.store = store
    self.device = device
    deviceID = store.installation.deviceID
    clock = ServerClock(wall: configuration.wallClock)
    var settings = ClientConfiguration(
      wallClock: configuration.wallClock, buildTime: configuration.buildTime,
      lastSeenServerTime: store.serverTime)
    settings.authorities = configuration.authorities
    settings.earliestTime = store.newestFileTime
    settings.onNetworkChange = onNetworkChange
    client = Client(settings)
    reader = AnswerReader(metadataKey: configuration.metadataKey)
    identity = Locked(Identity())
    if let credentials = configuration.credentials { use(credentials) }
  }

  func use(_ credentials: Credentials) {
    switch credentials {
    case .softwareStatement(let statement):
      var redirectURL: String?
      if case .browser(let url) = configuration.login { redirectURL = url }
      let registrar = Registrar(statement, redirectURL: redirectURL, store, client)
      identity.withLock { identity in
        identity.registrar = registrar
        identity.signer = nil
      }
    case .keyPair(let publicKey, let secret, let method):
      let signer = Result { () throws(ServiceFailure) in
        try CallSigner(publicKey: publicKey, secret: secret, method: method)
      }
      identity.withLock { identity in
        identity.signer = signer
        identity.registrar = nil
      }
    }
  }

  func use(signedRequestorID: String) {
    identity.withLock { $0.signedRequestorID = signedRequestorID }
  }

  /// Sends a request, and repeats it while the service is unreachable, for at most the time in the request's
  /// `patience`.
  func perform(_ call: OutgoingCall, _ options: EnablerOptions) async -> Outcome {
    let began = Clocks.bootNanoseconds()
    func spent() -> Duration { .nanoseconds(Int64(clamping: Clocks.bootNanoseconds() &- began)) }
    var (attempt, pause, isClockWrong, isLast) = (call, Self.firstPause, false, call.patience == .zero)
    while true {
      var outcome = await performOnce(attempt, options)
      isClockWrong = isClockWrong || outcome.isClockWrong
      outcome.isClockWrong = isClockWrong
      guard !isLast, case .failed(let failure) = outcome.answer else { return outcome }
      // A call is repeated while the service is unreachable, for the time `patience`. The last repetition starts at the
      // end of that time. It must end before the deadline, so a fifth of the time is kept for it.
      let end = min(failure.patience(of: call.patience), call.deadline / 5 * 4)
      let (left, wanted) = (end - spent(), failure.retryAfter ?? .zero)
      guard left > .zero, wanted <= left else { return outcome }
      let rest = min(ActionPerformer.spread(max(pause, wanted), Double.random(in: 0...1)), left)
      isLast = rest == left
      attempt.deadline = call.deadline - spent() - rest
      do { try await Task.sleep(for: rest) } catch { return outcome }
      pause *= 2
    }
  }

  /// The pause before the first repetition of a failed request.
  ///
  /// It doubles with each repetition.
  private static let firstPause: Duration = .milliseconds(100)

  private func performOnce(_ call: OutgoingCall, _ options: EnablerOptions) async -> Outcome {
    guard let requestor = RequestorID(call.requestor) else {
      let failure = ServiceFailure(kind: .status(400), message: "the requestor's id cannot be one")
      return Outcome(answer: .failed(failure))
    }
    var wire = call.wireCall(
      deviceID: deviceID, options: options, numberMatching: configuration.numberMatching,
      codeLifetime: configuration.codeLifetime, wait: call.hold ?? configuration.timing.wait)
    let deviceInfo = DeviceFacts.headerValue(device, options)
    wire.headers.append((HeaderName(literal: "X-Device-Info"), deviceInfo))
    let known = identity.withLock { $0 }
    if case .configuration = call.operation {
      if let signed = known.signedRequestorID { wire.query.append((Field.signedRequestorID, signed)) }
      // The service's doctor compares its own clock with this one.
      wire.headers.append((.date, HTTPDate.text(epochSeconds: clock.wallSeconds)))
    }
    do throws(ServiceFailure) {
      let response = try await authorizedResponse(
        wire, call, requestor: requestor, known, options)
      let isClockWrong = response.serverDate.map(clock.learn) ?? false
      return Outcome(
        answer: reader.answer(to: call.operation, response), isClockWrong: isClockWrong)
    } catch {
      return Outcome(answer: .failed(error))
    }
  }

  // MARK: Credentials

  private func authorizedResponse(
    _ wire: WireCall, _ call: OutgoingCall, requestor: RequestorID, _ known: Identity,
    _ options: EnablerOptions
  ) async throws(ServiceFailure) -> ClientResponse {
    if let registrar = known.registrar {
      return try await bearerResponse(wire, call, registrar, options)
    }
    guard let signer = try known.signer?.get() else { return try await send(wire, call, nil) }
    let first = signer.header(wire, requestor: requestor, at: clock.now(for: call.service))
    let response = try await send(wire, call, first)
    // A 401 may have three causes: this device's clock was wrong, the service started after the request was signed, or
    // the request arrived twice (a kept connection broke after a node had used its nonce). So correct the clock, sign
    // again and repeat once. A new connection avoids the last cause.
    guard response.status == Status(401), let date = response.serverDate else { return response }
    clock.correct(call.service, date)
    let second = signer.header(wire, requestor: requestor, at: clock.now(for: call.service))
    return try await send(wire, call, second, usesNewConnection: true)
  }

  private func bearerResponse(
    _ wire: WireCall, _ call: OutgoingCall, _ registrar: Registrar,
    _ options: EnablerOptions
  ) async throws(ServiceFailure) -> ClientResponse {
    var refused: String?
    let device = DeviceFacts.headerValue(device, options)
    let extras = RegistrationExtras(device: device, options: options)
    var last: ClientResponse?
    // A second access token is needed if the first was revoked early, a third if the service removed the client.
    for _ in 0..<3 {
      let token = try await registrar.token(
        for: call.service, refused: refused, uptime: Clocks.bootNanoseconds(),
        deadline: min(call.deadline, configuration.timing.call), extras
      ).get()
      let response = try await send(wire, call, "Bearer \(token)")
      let isClientGone = response.status == Status(403) && response.saysInvalidClient
      guard response.status == Status(401) || isClientGone else { return response }
      if isClientGone { await registrar.forgetClient(of: call.service) }
      refused = token
      last = response
    }
    guard let last else { throw ServiceFailure(kind: .accessToken) }
    return last
  }

  private func send(
    _ wire: WireCall, _ call: OutgoingCall, _ authorization: String?, usesNewConnection: Bool = false
  ) async throws(ServiceFailure) -> ClientResponse {
    do throws(ClientError) {
      let query = wire.query.isEmpty ? "" : "?" + PercentEncoding.form(wire.query)
      let body = wire.form.map { Array(PercentEncoding.form($0).utf8) } ?? []
      var request = ClientRequest(
        wire.method, try ClientURL(call.service + wire.path + query), body: body)
      request.deadline = call.deadline
      request.usesNewConnection = usesNewConnection
      request.addHeader(.accept, "application/json")
      if let authorization { request.addHeader(.authorization, authorization) }
      if wire.form != nil {
        request.addHeader(.contentType, "application/x-www-form-urlencoded")
      }
      for header in wire.headers { request.addHeader(header.name, header.value) }
      return try await client.send(request)
    } catch {
      throw clock.judged(AnswerReader.failure(error))
    }
  }
}

extension ClientResponse {
  /// Whether the service refuses the client as unknown: `{"error":"invalid_client"}`.
  fileprivate var saysInvalidClient: Bool {
    String(decoding: body.prefix(256), as: UTF8.self).contains("invalid_client")
  }
}
