import CommandKit
import RegentCryptography
import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentOAuth
import RegentPlatform

/// A sign-in at any server with OAuth's device grant (RFC 8628): requests a code, then polls until the viewer has
/// approved it.
///
/// The code is stored on the box's disk before it is shown, so that the same code is still shown after a power cut.
final class OAuthLink: PairLink {
  private let folder: OAuthFolder
  private let client: OAuthClient
  private let caller: OAuthCaller
  private let isForced: Bool
  private let lock: FileLock
  private let work = LinkWork()
  private let recovery: Recovery

  /// How long to ask a server to hold a poll, in seconds, if it supports long polling.
  private static let hold = 20

  init(_ name: String, in state: String, isForced: Bool, proxy: ProxyChoice, buildTime: Int64) throws(CommandError) {
    folder = OAuthFolder(name, in: state)
    client = try folder.client()
    lock = try folder.pairingLock()
    let recovery = Recovery()
    caller = OAuthCaller(
      authorities: folder.authorities, proxy: proxy, buildTime: buildTime, earliestTime: folder.newestTime
    ) {
      recovery.changed()
    }
    self.recovery = recovery
    self.isForced = isForced
  }

  func requestCode(provider: String?) { work.requestCode(provider: provider) }

  func events() -> AsyncStream<LinkEvent> { work.events(of: serve) }

  func withdraw() async {
    await work.end()
    // OAuth cannot withdraw a code. So the box only forgets the code, which stays valid at the server until it expires.
    folder.forgetPendingCode()
  }

  /// Runs one sign-in at a time.
  ///
  /// Each further request for a code replaces the current one.
  private func serve(_ sink: AsyncStream<LinkEvent>.Continuation) async {
    var running: Task<Void, Never>?
    var isFirst = true
    for await _ in work.codeRequests {
      running?.cancel()
      await running?.value
      if !isForced, let tokens = try? folder.tokens(), tokens.answer.refreshToken != nil || tokens.isFresh(at: .now()) {
        sink.yield(.authenticated(name: nil, provider: client.host))
        continue
      }
      let resumes = isFirst
      isFirst = false
      running = Task { await self.signIn(sink, resumes: resumes) }
    }
    running?.cancel()
    await running?.value
  }

  private func signIn(_ sink: AsyncStream<LinkEvent>.Continuation, resumes: Bool) async {
    var backoff = Backoff()
    while !Task.isCancelled {
      do throws(OAuthTrouble) {
        let server = try await server()
        let key = try onDisk { () throws(CommandError) in client.isBound(at: server) ? try folder.key() : nil }
        let code = try await code(server, key, resumes: resumes)
        sink.yield(.code(code.shown))
        return await ask(code, server, key, sink)
      } catch {
        if Task.isCancelled { return }
        guard case .away(_, let asked, _) = error else {
          sink.yield(.failed(failure(error)))
          return
        }
        sink.yield(.trouble(failure(error)))
        await recovery.pause(backoff.next(asked: asked))
      }
    }
  }

  /// Fetches the discovery document again, because the server may have changed its endpoints.
  private func server() async throws(OAuthTrouble) -> DiscoveredServer {
    let document = try await caller.document(of: client.issuer)
    return try onDisk { () throws(CommandError) in
      let server = try OAuthClient.read(document, client.issuer)
      if document != client.server {
        var changed = client
        changed.server = document
        try folder.keep(changed)
      }
      return server
    }
  }

  private struct Code {
    let offer: DeviceOffer
    let shown: ShownCode
  }

  /// The registration code that was shown before a power cut, if it is still valid, or else a new one.
  private func code(
    _ server: DiscoveredServer, _ key: SigningKey?, resumes: Bool
  ) async throws(OAuthTrouble) -> Code {
    if resumes, let kept = folder.pendingCode(), let offer = try? DeviceOffer(kept.answer) {
      // If the elapsed time is unknown, the stored code is polled anyway, and the server says whether it expired.
      let left = offer.lifetime * 1000 - (kept.begun.elapsed(until: .now()) ?? 0)
      if left > 0 { return Code(offer: offer, shown: ShownCode(offer, left: left)) }
    }
    var form = client.target
    if !client.scopes.isEmpty { form.append(("scope", client.scopes.joined(separator: " "))) }
    let reply = try await caller.post(server.deviceAuthorization, form, as: client, at: server, key: key)
    let offer: DeviceOffer
    do throws(ForeignAnswerError) {
      offer = try DeviceOffer(reply)
    } catch {
      throw .broken(
        CommandError(
          "the code that \(client.host) sent cannot be used: \(error)",
          hint: "nothing was stored; tell the operator of that server", code: "foreign-address"))
    }
    try onDisk { () throws(CommandError) in try folder.keep(PendingCode(reply, at: .now())) }
    return Code(offer: offer, shown: ShownCode(offer, left: offer.lifetime * 1000))
  }

  /// Polls until the server approves or refuses the code (RFC 8628 §3.5).
  private func ask(
    _ code: Code, _ server: DiscoveredServer, _ key: SigningKey?, _ sink: AsyncStream<LinkEvent>.Continuation
  ) async {
    var schedule = PollSchedule(seconds: code.offer.answer.interval, holds: server.holdsQuestions)
    var pause = schedule.first
    var isAway = false
    let form: [(name: String, value: String)] =
      [("grant_type", TokenRequest.deviceCodeGrant), ("device_code", code.offer.answer.deviceCode)] + client.target
    while true {
      // After a failure, a change of the network ends the pause. Otherwise the server sets the interval.
      if isAway {
        await recovery.pause(.milliseconds(pause))
      } else {
        try? await Task.sleep(for: .milliseconds(pause))
      }
      isAway = false
      if Task.isCancelled { return }
      guard Int64(Clocks.bootNanoseconds() / 1_000_000) < code.shown.deadline else { return end(.expired, sink) }
      let asked = Clocks.bootNanoseconds()
      do throws(OAuthTrouble) {
        let reply = try await caller.post(
          server.token, form, as: client, at: server, key: key, hold: Self.hold)
        return await keep(try client.tokens(in: reply), sink)
      } catch {
        if Task.isCancelled { return }
        switch error {
        case .refused("authorization_pending", _):
          sink.yield(.recovered)
          pause = schedule.afterPending(.nanoseconds(Clocks.bootNanoseconds(since: asked)))
        case .refused("slow_down", _):
          sink.yield(.recovered)
          pause = schedule.afterSlowDown()
        case .refused("access_denied", _): return end(.denied, sink)
        case .refused("expired_token", _): return end(.expired, sink)
        // The server no longer knows the code. Either it dropped the code, or it sent the tokens in a response that a
        // power cut of this box lost.
        case .refused("invalid_grant", _): return end(.withdrawn, sink)
        case .away:
          sink.yield(.trouble(failure(error)))
          pause = schedule.afterFailure()
          isAway = true
        case .refused, .broken: return end(.failed(failure(error)), sink)
        }
      }
    }
  }

  private func end(_ event: LinkEvent, _ sink: AsyncStream<LinkEvent>.Continuation) {
    folder.forgetPendingCode()
    sink.yield(event)
  }

  /// Stores the tokens of the sign-in.
  ///
  /// If the disk is full, the screen says so, and storing is retried while this program runs.
  private func keep(_ answer: TokenAnswer, _ sink: AsyncStream<LinkEvent>.Continuation) async {
    let tokens = KeptTokens(answer, at: .now())
    var backoff = Backoff()
    while !Task.isCancelled {
      do throws(CommandError) {
        let lock = try await folder.lock()
        try folder.keep(tokens)
        lock.release()
        return end(.authenticated(name: nil, provider: client.host), sink)
      } catch {
        sink.yield(
          .trouble(AgentFailure(code: error.code, message: error.message, hint: error.hint, trouble: .storage)))
        try? await Task.sleep(for: backoff.next())
      }
    }
  }

  private func onDisk<Value>(_ work: () throws(CommandError) -> Value) throws(OAuthTrouble) -> Value {
    do throws(CommandError) { return try work() } catch { throw .broken(error) }
  }

  private func failure(_ trouble: OAuthTrouble) -> AgentFailure {
    let obstacle: PairingObstacle =
      switch (trouble, trouble.error.code) {
      case (.away(_, _, .some), "clock"): .clock
      case (.away(_, _, let fault?), _), (.broken(_, let fault?), _): .certificate(fault)
      case (.away(_, let asked, _), "busy"): .busy(seconds: asked?.components.seconds)
      case (.away, _): .offline(host: client.host)
      case (_, "foreign-address"): .foreignAddress
      case (_, "storage"): .storage
      case (.refused, _): .refused
      default: .service
      }
    let error = trouble.error
    return AgentFailure(code: error.code, message: error.message, hint: error.hint, trouble: obstacle)
  }
}

extension ShownCode {
  /// Creates a code for the screen from a code of another OAuth server, which is valid for `left` more milliseconds.
  fileprivate init(_ offer: DeviceOffer, left: Int64) {
    self.init(
      code: offer.answer.userCode, display: offer.answer.userCode, address: AddressCheck.words(offer.address),
      link: offer.link, expires: Clocks.wallMilliseconds() + left,
      deadline: Int64(Clocks.bootNanoseconds() / 1_000_000) + left, lifetime: offer.lifetime * 1000)
  }
}
