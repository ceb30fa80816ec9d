import HTTPCodec
import HTTPServer
import Platform

/// What a service saw of its requests.
final class Seen: Sendable {
  private struct State: Sendable {
    var targets: [String] = []
    var authorizations: [String] = []
    var visitors: [String] = []
    var devices: [String] = []
  }

  private let state = Locked(State())

  func note(_ request: Request) {
    state.withLock { state in
      state.targets.append(String(decoding: request.target, as: UTF8.self))
      if let header = request.header(.authorization) { state.authorizations.append(header) }
      if let header = request.header(HeaderName(literal: "AP-Visitor-Identifier")) {
        state.visitors.append(header)
      }
      if let header = request.header(HeaderName(literal: "X-Device-Info")) {
        state.devices.append(header)
      }
    }
  }

  func forget() { state.withLock { $0 = State() } }

  var targets: [String] { state.withLock { $0.targets } }
  var authorizations: [String] { state.withLock { $0.authorizations } }
  var visitors: [String] { state.withLock { $0.visitors } }
  var devices: [String] { state.withLock { $0.devices } }
}
