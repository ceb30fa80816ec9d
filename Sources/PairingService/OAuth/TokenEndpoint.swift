internal import HTTPServer
internal import PairingStore
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentOAuth
internal import RegentPairing

/// The token endpoint, which takes device codes and refresh tokens (RFC 6749 §3.2, RFC 8628 §3.4).
///
/// A poll for a pending code reads no disk: the hash of the client's secret, or its keys, are in memory with the code.
struct TokenEndpoint: Sendable {
  private let core: ServiceCore
  private let frame: OAuthFrame
  private let redemption: CodeRedemption
  private let refreshing: Refreshing

  init(_ core: ServiceCore) {
    self.core = core
    frame = OAuthFrame(core)
    redemption = CodeRedemption(core)
    refreshing = Refreshing(core)
  }

  func mount(_ routes: inout Routes) {
    frame.mount(&routes, .token, deciding: answer)
  }

  @Sendable private func answer(_ call: OAuthCall) throws -> Answer {
    let shown = try call.shown()
    let asked = try TokenRequest(call.parameters)
    switch asked {
    case .refresh(let token, let scope):
      return frame.laterFromHere(call.request) {
        let client = try await core.client(shown, call.request)
        return OAuthFrame.response(.ok, body: try await refreshing.next(token, scope: scope, call, client))
      }
    case .deviceCode(let text, let verifier):
      let redeem: @Sendable () async throws -> Response = {
        let client = try await core.client(shown, call.request)
        return OAuthFrame.response(.ok, body: try await redemption.tokens(for: text, verifier, call, client))
      }
      // The code is not in memory, so the store is asked. It has the client's current record, which decides whether the
      // credentials are wrong or the client has a new secret.
      guard let code = DeviceCode(text), let known = core.askedCode(code) else {
        return frame.later(call.request, redeem)
      }
      if case .assertion(let assertion, let name) = shown {
        guard let checked = core.checked(assertion, name, of: known.asked) else {
          return frame.later(call.request, redeem)
        }
        return try poll(call, known, redeem, spending: checked)
      }
      guard known.asked.isShown(shown, core.hasher) else { return frame.later(call.request, redeem) }
      return try poll(call, known, redeem)
    }
  }

  /// Answers a client's poll from memory, unless the viewer has approved the code.
  private func poll(
    _ call: OAuthCall, _ code: AskedCode, _ redeem: @escaping @Sendable () async throws -> Response,
    spending assertion: ClientAssertion.Checked? = nil
  ) throws -> Answer {
    let flow = code.flow
    let answer = DeviceAnswer(flow, at: core.clock.now)
    switch answer {
    case .approved: return frame.later(call.request, redeem)
    case .denied, .expired, .unknown:
      // Another node may have approved the code, so the store must be asked.
      guard !core.codeLooks.areNeeded else { return frame.later(call.request, redeem) }
      throw OAuthError.ended(answer)
    case .pending: break
    }
    if let assertion {
      // A poll with an assertion is not held as a long poll. The assertion can be used only once, so it could not be
      // checked again at the end.
      try core.oauth.assertions.take(
        assertion, of: code.asked.client, isStrange: !code.asked.isOperators, at: core.clock.now)
      return .now(frame.response(core.notYet(code.id, of: code.device, at: code.requestor), to: call.request))
    }
    guard let (span, granted) = waits(call.request, flow) else {
      return .now(frame.response(core.notYet(code.id, of: code.device, at: code.requestor), to: call.request))
    }
    do throws(CallError) {
      try core.limits.takeWait(.device(code.device), at: code.requestor)
    } catch {
      throw OAuthError.slowDown
    }
    let (id, source) = (code.id, SourceKey(call.request.clientAddress))
    return .later { [core, frame] reply in
      core.waiters.park(
        reply, for: .code(id), .device(.token, .owner), from: source, span: span,
        while: { core.codes.find(id)?.flow.state.isPending == true },
        end: { end in
          let closes = if case .stopping = end { true } else { false }
          frame.complete(reply, call.request, granted: granted, closes: closes) {
            guard let flow = core.codes.find(id)?.flow, case .pending = DeviceAnswer(flow, at: core.clock.now) else {
              return try await redeem()
            }
            core.oauth.paces.wasHeld(id)
            throw OAuthError.pending
          }
        })
    }
  }

  private func waits(_ request: Request, _ flow: PairingFlow) -> (span: Duration, granted: Int)? {
    guard let seconds = request.preferredWait, seconds > 0 else { return nil }
    var generator = SystemRandomNumberGenerator()
    let plan = WaitPlan(
      seconds: seconds, after: nil, flow: flow, at: core.clock.now,
      sooner: WaitPlan.sooner(seconds, drawnFrom: &generator))
    guard case .park(_, let span) = plan else { return nil }
    return (span, WaitPlan.granted(seconds))
  }
}

extension ServiceCore {
  /// The pending code of an OAuth client, found by its device code.
  func askedCode(_ code: DeviceCode) -> AskedCode? {
    // The id in the device code finds the record and is not secret; the rest is compared in constant time. Memory holds
    // the device code unencrypted, which saves computing a hash at each poll.
    guard let known = codes.cached(code.registration), let asked = known.record.about.asked,
      constantTimeEqual(known.record.device.text.utf8.span, code.device.text.utf8.span)
    else { return nil }
    return AskedCode(known: known, asked: asked)
  }

  /// The error for a poll of a pending code: `slow_down` for one that comes too early or exceeds the device's rate
  /// limit, else `authorization_pending`.
  func notYet(_ id: RegistrationID, of device: DeviceHash, at requestor: RequestorID) -> OAuthError {
    let isEarly = oauth.paces.isTooEarly(id, at: clock.uptime)
    do throws(CallError) {
      try limits.take(device, at: requestor)
    } catch {
      return .slowDown
    }
    return isEarly ? .slowDown : .pending
  }
}

/// A pending code, with the values that its OAuth client sent with the request for it.
///
/// It holds the cached object and no copy, because copying a record would cost more than the rest of a poll.
struct AskedCode {
  let known: LiveCodes.CachedCode
  let asked: AskedByClient

  var flow: PairingFlow { known.record.flow }
  var id: RegistrationID { known.record.id }
  var device: DeviceHash { known.record.deviceHash }
  var requestor: RequestorID { known.record.requestor }
}

extension AskedByClient {
  /// Whether a request has the credentials of the OAuth client that asked for the code.
  fileprivate func isShown(_ shown: ClientAuthentication, _ hasher: KeyedHasher) -> Bool {
    switch shown {
    case .name(let id, _): id == client && secret == nil && keys == nil
    case .secret(let id, let text, _): id == client && hasher.isToken(text, secret)
    case .assertion: false
    }
  }
}

extension OAuthError {
  static let pending = OAuthError(.authorizationPending, "the viewer has not decided on the phone yet: poll again")
  static let slowDown = OAuthError(.slowDown, "the client polls too often: wait five seconds between two requests")
  static let unknownCode = OAuthError(.invalidGrant, "this client has no such code: request a new one")

  /// The error for a device code that has ended.
  ///
  /// A withdrawn code is reported like an expired one.
  static func ended(_ answer: DeviceAnswer) -> OAuthError {
    if case .denied = answer { return OAuthError(.accessDenied, "the viewer denied the request on the phone") }
    return OAuthError(.expiredToken, "the code has expired or was withdrawn: request a new one")
  }
}
