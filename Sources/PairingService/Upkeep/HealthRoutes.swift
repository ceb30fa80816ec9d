package import HTTPServer
internal import RegentHTTPCodec
internal import RegentJSON
internal import PairingStore

/// Whether the service is alive, and whether it is ready to serve.
package struct HealthRoutes: Sendable {
  private let core: ServiceCore
  private let writing: WritingProbe

  package init(_ core: ServiceCore) {
    self.core = core
    writing = WritingProbe(core)
  }

  /// Mounts the two.
  package func mount(_ routes: inout Routes) {
    let alive = PreparedResponse(Self.answer(.ok, "ok", core.options.version))
    routes.get("/healthz") { _, _ in .now(Response(alive)) }
    routes.get("/readyz") { [core, writing] _, _ in
      .later { reply in
        Task {
          do throws(StoreError) {
            // The cheapest question that goes to the disk and back.
            _ = try await core.store.newestAuditNumber()
            try await writing.check()
            guard !core.nodeNews.isLate else { throw .unavailable(reason: "nothing is heard of other nodes") }
            guard !core.drain.isOn else {
              // Nothing is wrong: no line in the log each time that a load balancer asks.
              reply.complete(Self.answer(.serviceUnavailable, "draining", core.options.version))
              return
            }
            guard core.nodeNews.clockStanding != .outvoted else {
              let word = "the clock is wrong: most others agree on another time"
              reply.complete(Self.answer(.serviceUnavailable, word, core.options.version))
              return
            }
            let clock = core.clockTrouble?.word ?? (core.nodeNews.clockStanding == .disputed ? Self.disputed : nil)
            reply.complete(Self.answer(.ok, "ready", core.options.version, clock: clock))
          } catch {
            core.log.storeFailed(error)
            let word =
              error == .diskFull ? "the disk is full: nothing can be written" : "the store does not answer"
            reply.complete(Self.answer(.serviceUnavailable, word, core.options.version))
          }
        }
      }
    }
  }

  private static let disputed = "is not the database's, and nobody can tell which is wrong"

  private static func answer(_ status: Status, _ word: String, _ version: String, clock: String? = nil)
    -> Response
  {
    let body = JSONWriter.bytes { json in
      json.object { json in
        json.member("status", word)
        json.member("version", version)
        if let clock { json.member("clock", clock) }
      }
    }
    var response = Response(status, type: "application/json", body: body + [UInt8(ascii: "\n")])
    response.addHeader(.cacheControl, "no-store")
    return response
  }
}
