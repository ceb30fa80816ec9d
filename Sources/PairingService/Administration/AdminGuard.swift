internal import Administration
internal import RegentHTTPCodec
package import HTTPServer
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentPlatform

/// Who may use the admin socket: root, the service's own user, the members of one group.
package struct AdminAccess: Sendable {
  private let ownUser: UInt32
  private let group: UInt32?

  /// Who may come in.
  ///
  /// - Parameters:
  ///   - ownUser: the user that the service runs as.
  ///   - group: a group whose members may, too.
  package init(ownUser: UInt32, group: UInt32?) {
    self.ownUser = ownUser
    self.group = group
  }

  /// Whether the kernel's word on the peer is good enough.
  package func admits(_ peer: HTTPServer.Credentials) -> Bool {
    peer.user == 0 || peer.user == ownUser || group.map(peer.isMember) ?? false
  }
}

/// Decides who may do something on the admin socket, and how errors look there.
struct AdminGuard: Sendable {
  private let core: ServiceCore
  private let access: AdminAccess
  private let names = OperatorNames()

  init(_ core: ServiceCore, _ access: AdminAccess) {
    self.core = core
    self.access = access
  }

  /// Answers a call with what its action makes of it, away from the event loop.
  func answer(_ request: Request, _ path: PathParameters, _ action: @escaping AdminAction)
    -> Answer
  {
    guard let peer = peer(of: request) else { return .now(refused(request)) }
    return .later { [core, names] reply in
      Task {
        do throws(AdminError) {
          let call = try AdminCall(
            request: request, path: path, operator: names.name(of: peer.user), core: core)
          reply.complete(try await action(call).response)
        } catch {
          reply.complete(Self.response(error))
        }
      }
    }
  }

  /// Answers at once from memory.
  func admitted(_ request: Request, _ make: (HTTPServer.Credentials) -> Response) -> Answer {
    guard let peer = peer(of: request) else { return .now(refused(request)) }
    return .now(make(peer))
  }

  /// The answer to what no route takes.
  func refuse(_ request: Request, _ refusal: Refusal) -> Response {
    guard peer(of: request) != nil else { return refused(request) }
    let error = AdminError(
      refusal.status == .notFound ? .notFound : .invalid,
      "the service does not know this request: \(refusal.status.reason)",
      hint: "check that regentctl and regentd have the same version")
    return Self.response(error, refusal.status)
  }

  private func peer(of request: Request) -> HTTPServer.Credentials? {
    request.peer.credentials.flatMap { access.admits($0) ? $0 : nil }
  }

  private func refused(_ request: Request) -> Response {
    let user = request.peer.credentials.map { "user \($0.user)" } ?? "a network peer"
    core.audit.note(
      .service, "admin.refused", user, .refused, detail: "may not use the admin socket", once: true)
    return Self.response(
      AdminError(
        .notAllowed,
        "\(user) may not use the admin socket; only root, the service's user and members of --admin-group may",
        hint: "use sudo, or join the group: sudo usermod -aG regent-admin $USER, then log in again"))
  }

  private static func response(_ error: AdminError, _ status: Status? = nil) -> Response {
    var response = Response(
      status ?? error.code.status, type: "application/json", body: error.object.bytes())
    response.addHeader(.cacheControl, "no-store")
    return response
  }
}

/// The login names of users, each looked up once: the answer may come from the network.
final class OperatorNames: Sendable {
  private static let most = 1_000
  private let known = Locked<[UInt32: OperatorName]>([:])

  var count: Int { known.withLock { $0.count } }

  func name(of user: UInt32) -> OperatorName {
    if let name = known.withLock({ $0[user] }) { return name }
    let text = Accounts.title(of: user, numberedBy: "uid ")
    let name = OperatorName(text) ?? Self.nameless
    // More users than that have no business here; forgetting costs a look-up.
    known.withLock { known in
      if known.count >= Self.most { known = [:] }
      known[user] = name
    }
    return name
  }

  private static var nameless: OperatorName {
    guard let name = OperatorName("somebody") else { preconditionFailure("a plain word") }
    return name
  }
}

extension AdminError.Code {
  /// The status that goes with it.
  fileprivate var status: Status {
    switch self {
    case .invalid: .badRequest
    case .notFound: .notFound
    case .different, .refused, .changedMeanwhile, .ambiguous: .conflict
    case .notAllowed: .forbidden
    case .unavailable: .serviceUnavailable
    default: .internalServerError
    }
  }
}
