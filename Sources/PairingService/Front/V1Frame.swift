internal import HTTPCodec
package import HTTPServer
package import PairingStore
internal import Cryptography
internal import Pairing
internal import PairingWire
internal import Platform

/// What an answer needs to know of its call, while the rest of the call is gone.
struct V1Frame: Sendable {
  let core: ServiceCore
  let format: WireFormat
  /// Whether a browser on another site asks.
  let isCrossOrigin: Bool
  /// The requestor, once it is known to want enhanced errors.
  var enhanced: RequestorID?

  init(core: ServiceCore, request: Request, format: WireFormat) {
    self.core = core
    self.format = format
    isCrossOrigin = request.header(.origin) != nil
  }

  func perform(_ outcome: V1Outcome) -> Answer {
    switch outcome {
    case .reply(let reply): .now(response(reply))
    case .later(let work): .later { reply in complete(reply, work, granted: nil, closes: false) }
    case .wait(let wait): .later { reply in hold(reply, wait) }
    }
  }

  private func complete(
    _ reply: PendingReply, _ work: @escaping @Sendable () async throws -> V1Reply, granted: Int?,
    closes: Bool
  ) {
    Task {
      var response: Response
      do {
        response = self.response(try await work())
      } catch let error as CallError {
        response = self.response(error)
      } catch let error as StoreError {
        core.log.storeFailed(error)
        response = self.response(CallError(error))
      } catch {
        core.log.error("call-failed", ("reason", "\(error)"))
        response = self.response(CallError(.internalServerError, code: .internalError))
      }
      response.finish(granted: granted, closes: closes)
      reply.complete(response)
    }
  }

  private func hold(_ reply: PendingReply, _ wait: V1Wait) {
    core.waiters.hold(
      reply, for: wait.registration, .device(wait.place), span: wait.span,
      while: wait.isStill,
      end: { end in answer(reply, wait, closes: end == .stopping) })
  }

  /// The wait is over, for whatever reason: the answer is what it is now.
  private func answer(_ reply: PendingReply, _ wait: V1Wait, closes: Bool) {
    var response: Response
    do throws(CallError) {
      switch try wait.answer() {
      case .reply(let answer): response = self.response(answer)
      case .later(let work):
        return complete(reply, work, granted: wait.granted, closes: closes)
      case .wait: response = self.response(CallError(.internalServerError))
      }
    } catch {
      response = self.response(error)
    }
    response.finish(granted: wait.granted, closes: closes)
    reply.complete(response)
  }

  func response(_ reply: V1Reply) -> Response {
    var response = reply.response
    response.addHeader(.cacheControl, "no-store")
    if isCrossOrigin { CrossOrigin.allow(&response) }
    return response
  }

  /// The one place where an error becomes an answer.
  func response(_ error: CallError) -> Response {
    if error.isPlain, !isCrossOrigin, enhanced == nil || error.code == nil {
      return PlainErrors.response(error.status, format)
    }
    let document = ErrorDocument(
      status: Int(error.status.rawValue), message: error.message, details: error.details,
      enhancement: enhancement(of: error))
    var response = self.response(V1Reply(error.status, document, format))
    if error.status == .unauthorized { response.addHeader(.wwwAuthenticate, "Bearer") }
    if let wait = error.retryAfter { response.addRetryAfter(wait) }
    return response
  }

  private func enhancement(of error: CallError) -> ErrorDocument.Enhancement? {
    guard let enhanced, let code = error.code else { return nil }
    let trace = Random.uuid()
    core.log.info(
      "call-error", ("trace", trace), ("code", code.rawValue), ("requestor", enhanced.text))
    return ErrorDocument.Enhancement(
      code: code, helpURL: core.options.helpURL, trace: trace)
  }
}

/// The answers that say nothing but their status, made once: that of a pending poll is by far the most frequent one.
private enum PlainErrors {
  private static let prepared: [WireFormat: [UInt16: PreparedResponse]] = {
    var all: [WireFormat: [UInt16: PreparedResponse]] = [:]
    for format in WireFormat.allCases {
      for status: Status in [.unauthorized, .forbidden, .notFound] {
        let document = ErrorDocument(status: Int(status.rawValue))
        var response = V1Reply(status, document, format).response
        response.addHeader(.cacheControl, "no-store")
        if status == .unauthorized { response.addHeader(.wwwAuthenticate, "Bearer") }
        all[format, default: [:]][status.rawValue] = PreparedResponse(response)
      }
    }
    return all
  }()

  static func response(_ status: Status, _ format: WireFormat) -> Response {
    guard let prepared = prepared[format]?[status.rawValue] else { return Response(status) }
    return Response(prepared)
  }
}

extension CallError {
  /// Whether the status says it all.
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

  /// Whole seconds, rounded up: sooner would be refused again.
  package mutating func addRetryAfter(_ span: Duration) {
    addHeader(.retryAfter, String(max(1, (span.wholeMilliseconds + 999) / 1000)))
  }
}

extension ServiceLog {
  /// The store's own trouble: the caller gets a 503 that names no file.
  package func storeFailed(_ error: StoreError) {
    switch error {
    case .full, .unavailable, .unknownOutcome: self.error("store", ("reason", error.description))
    default: break
    }
  }
}
