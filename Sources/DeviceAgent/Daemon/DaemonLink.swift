import CommandKit
import RegentJSON

/// A sign-in that the daemon does.
///
/// This process only displays the sign-in, and needs neither the box's secret nor access to its tokens.
final class DaemonLink: PairLink {
  private let daemon: DaemonClient
  private let id: String
  private let after: Int
  private let codeRequests: AsyncStream<String?>
  private let newCodeRequests: AsyncStream<String?>.Continuation

  /// Starts a sign-in, or joins the one that this user started before.
  init(_ daemon: DaemonClient, _ order: PairOrder) async throws(CommandError) {
    self.daemon = daemon
    let answer = try await daemon.pair("begin", order.document)
    guard let id = answer["id"]?.string, let after = answer["after"]?.int64 else {
      throw CommandError("unexpected answer from the daemon", code: "daemon")
    }
    self.id = id
    self.after = Int(after)
    (codeRequests, newCodeRequests) = AsyncStream.makeStream(of: String?.self)
  }

  func requestCode(provider: String?) { newCodeRequests.yield(provider) }

  func events() -> AsyncStream<LinkEvent> {
    let (events, sink) = AsyncStream.makeStream(of: LinkEvent.self)
    let asking = Task { [self] in
      var isFirst = true
      for await provider in codeRequests {
        var body: JSONObject = ["id": .string(id), "first": .bool(isFirst)]
        if let provider { body["provider"] = .string(provider) }
        isFirst = false
        do throws(CommandError) {
          _ = try await daemon.pair("code", body)
        } catch {
          sink.yield(.failed(AgentFailure(error)))
          return
        }
      }
    }
    let hearing = Task { [self] in
      await hear(sink)
      asking.cancel()
      sink.finish()
    }
    sink.onTermination = { _ in
      asking.cancel()
      hearing.cancel()
    }
    return events
  }

  func withdraw() async { _ = try? await daemon.pair("withdraw", ["id": .string(id)]) }

  private func hear(_ sink: AsyncStream<LinkEvent>.Continuation) async {
    var last = after
    while !Task.isCancelled {
      do throws(CommandError) {
        let news = try await daemon.pair(
          "news", ["id": .string(id), "after": .integer(Int64(last))])
        for event in (news["events"]?.array ?? []).compactMap(LinkEvent.init) { sink.yield(event) }
        last = Int(news["last"]?.int64 ?? Int64(last))
      } catch {
        sink.yield(.failed(AgentFailure(error)))
        return
      }
    }
  }
}

extension AgentFailure {
  /// Converts an error of the daemon, which ends the sign-in.
  fileprivate init(_ error: CommandError) {
    self.init(code: error.code, message: error.message, hint: error.hint, trouble: .service)
  }
}
