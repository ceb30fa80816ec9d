internal import RegentHTTPCodec
package import HTTPServer
internal import PairingStore
internal import RegentCryptography
internal import RegentPairing
internal import RegentPairingWire
internal import RegentPlatform

/// The data that is needed to build the response to a request after the request itself was freed.
struct V1Frame: Sendable {
  let core: ServiceCore
  let format: WireFormat
  /// Whether the request has an `Origin` header, which means that a page of another site sent it.
  let isCrossOrigin: Bool
  /// The requestor, if it wants error documents with codes and details (enhanced errors).
  var enhanced: RequestorID?

  func perform(_ outcome: V1Outcome) -> Answer {
    switch outcome {
    case .reply(let reply): .now(response(reply))
    case .later(let work): .later { reply in complete(reply, work, granted: nil, closes: false) }
    case .wait(let wait): .later { reply in park(reply, wait) }
    case .decide(let work): .later { reply in decide(reply, work) }
    }
  }

  private func decide(
    _ reply: PendingReply, _ work: @escaping @Sendable () async throws -> V1Decision
  ) {
    Task {
      do {
        try core.requireToDecide()
        switch try await work() {
        case .reply(let answer): reply.complete(response(answer))
        case .wait(let wait): park(reply, wait)
        }
      } catch {
        reply.complete(response(failure: error))
      }
    }
  }

  private func complete(
    _ reply: PendingReply, _ work: @escaping @Sendable () async throws -> V1Reply, granted: Int?,
    closes: Bool
  ) {
    Task {
      var response: Response
      do {
        try core.requireToDecide()
        response = self.response(try await work())
      } catch {
        response = self.response(failure: error)
      }
      response.finish(granted: granted, closes: closes)
      reply.complete(response)
    }
  }

  private func park(_ reply: PendingReply, _ wait: V1Wait) {
    // The closure captures two members instead of the whole wait, because the waiter holds the rest already.
    let (answer, granted) = (wait.answer, wait.granted)
    core.waiters.park(
      reply, for: wait.subject, wait.place, from: wait.source, span: wait.span,
      while: wait.isStill,
      end: { end in self.answer(reply, answer, end, granted: granted) })
  }

  /// Sends the response to a long poll that has ended for any reason.
  ///
  /// The response describes the present state.
  private func answer(
    _ reply: PendingReply, _ answer: V1HeldAnswer, _ end: Waiters.End, granted: Int
  ) {
    let closes = if case .stopping = end { true } else { false }
    let signIn: AuthenticationRecord? = if case .approved(let record) = end { record } else { nil }
    var response: Response
    do throws(CallError) {
      switch try answer(signIn) {
      case .reply(let answer): response = self.response(answer)
      case .later(let work):
        return complete(reply, work, granted: granted, closes: closes)
      }
    } catch {
      response = self.response(error)
    }
    response.finish(granted: granted, closes: closes)
    reply.complete(response)
  }

  func response(failure error: any Error) -> Response {
    if let error = error as? CallError { return response(error) }
    if let error = error as? StoreError {
      core.storeTrouble.note(error)
      return response(CallError(error))
    }
    core.log.error("call-failed", ("reason", "\(error)"))
    return response(CallError(.internalServerError, code: .internalError))
  }

  func response(_ reply: V1Reply) -> Response {
    var response = reply.response
    response.addHeader(.cacheControl, "no-store")
    if isCrossOrigin { CrossOrigin.allow(&response) }
    return response
  }

  /// The response to a request that failed.
  func response(_ error: CallError) -> Response {
    if error.isPlain, !isCrossOrigin, enhanced == nil || error.code == nil {
      return PlainErrors.response(error.status, format)
    }
    let document = ErrorDocument(
      status: Int(error.status.rawValue), message: error.message, details: error.details,
      enhancement: enhancement(of: error))
    var response = self.response(V1Reply(error.status, document, format))
    if error.status == .unauthorized {
      // RFC 6750 §3: the response has no error code when the request had no token.
      let isToken = error.details == CallError.accessDenied.details
      response.addHeader(.wwwAuthenticate, isToken ? "Bearer error=\"invalid_token\"" : "Bearer")
    }
    response.addRetryAfter(error, core.storeTrouble)
    if enhanced == nil, let code = error.code, Self.toldReasons.contains(code) {
      response.addHeader(HeaderName(known: PairingHeader.decisionReason), code.rawValue)
    }
    return response
  }

  /// Reasons that apps must distinguish from an ordinary refusal.
  ///
  /// They are sent in a header even when the requestor has not asked for enhanced errors.
  private static let toldReasons: Set<EnhancedCode> = [
    .authorizationDeniedByParentalControls, .authorizationDeniedByDegradationRule,
  ]

  private func enhancement(of error: CallError) -> ErrorDocument.Enhancement? {
    // Each error code is documented with its statuses. If the endpoint responds with another status, the generic body
    // is sent.
    guard let enhanced, let code = error.code,
      code.statuses.contains(Int(error.status.rawValue))
    else { return nil }
    let trace = Random.uuid()
    core.log.info(
      "call-error", ("trace", trace), ("code", code.rawValue), ("requestor", enhanced.text))
    return ErrorDocument.Enhancement(
      code: code, helpURL: core.options.helpURL, trace: trace)
  }
}

/// Responses that consist of their status only, prepared once.
///
/// The response to a pending poll is by far the most frequent one.
private enum PlainErrors {
  private static let json = Forms(.json)
  private static let xml = Forms(.xml)

  private struct Forms: Sendable {
    let unauthorized: PreparedResponse
    let forbidden: PreparedResponse
    let notFound: PreparedResponse

    init(_ format: WireFormat) {
      func prepared(_ status: Status) -> PreparedResponse {
        let document = ErrorDocument(status: Int(status.rawValue))
        var response = V1Reply(status, document, format).response
        response.addHeader(.cacheControl, "no-store")
        if status == .unauthorized { response.addHeader(.wwwAuthenticate, "Bearer") }
        return PreparedResponse(response)
      }
      unauthorized = prepared(.unauthorized)
      forbidden = prepared(.forbidden)
      notFound = prepared(.notFound)
    }
  }

  static func response(_ status: Status, _ format: WireFormat) -> Response {
    let forms = format == .json ? json : xml
    return switch status {
    case .notFound: Response(forms.notFound)
    case .forbidden: Response(forms.forbidden)
    case .unauthorized: Response(forms.unauthorized)
    default: Response(status)
    }
  }
}

extension CallError {
  /// Whether the error response consists of its status only.
  fileprivate var isPlain: Bool {
    message == nil && details == nil && retryAfter == nil
      && (status == .unauthorized || status == .forbidden || status == .notFound)
  }
}

extension Response {
  fileprivate mutating func finish(granted: Int?, closes: Bool) {
    if let granted { addHeader(.preferenceApplied, "wait=\(granted)") }
    if closes { closesConnection = true }
  }

  /// Adds the header `Retry-After` of an error, if it has one, the same for every protocol.
  mutating func addRetryAfter(_ error: CallError, _ trouble: StoreTrouble) {
    if let wait = trouble.pause(after: error) { addRetryAfter(wait) }
  }

  /// Adds the header `Retry-After`, in whole seconds rounded up, because an earlier retry would be refused again.
  package mutating func addRetryAfter(_ span: Duration) {
    addHeader(.retryAfter, String(max(1, (span.wholeMilliseconds + 999) / 1000)))
  }
}
