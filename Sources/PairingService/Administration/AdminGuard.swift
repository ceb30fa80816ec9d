internal import Administration
internal import RegentHTTPCodec
package import HTTPServer
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentPlatform

/// Decides which local users may use the admin socket: root, the service's own user, and the members of one group.
package struct AdminAccess: Sendable {
  private let ownUser: UInt32
  private let group: UInt32?

  /// Lets root, the user `ownUser` (under which the service runs) and the members of `group` use the admin socket.
  package init(ownUser: UInt32, group: UInt32?) {
    self.ownUser = ownUser
    self.group = group
  }

  /// Whether the client with these credentials may use the admin socket.
  ///
  /// The kernel reports the credentials.
  package func admits(_ peer: HTTPServer.Credentials) -> Bool {
    peer.user == 0 || peer.user == ownUser || group.map(peer.isMember) ?? false
  }
}

/// Checks for each request on the admin socket which user sent it, and converts errors to responses.
struct AdminGuard: Sendable {
  private let core: ServiceCore
  private let access: AdminAccess
  private let names = OperatorNames()

  init(_ core: ServiceCore, _ access: AdminAccess) {
    self.core = core
    self.access = access
  }

  /// Runs an action outside the event loop and responds with its result.
  func answer(_ request: Request, _ path: PathParameters, _ action: @escaping AdminAction)
    -> Answer
  {
    guard let peer = peer(of: request) else { return .now(refused(request)) }
    return .later { [core, names] reply in
      Task {
        do throws(AdminError) {
          let name = names.name(of: peer.user).behind(request, peer)
          let call = try AdminCall(request: request, path: path, operator: name, core: core)
          reply.complete(try await action(call).response)
        } catch {
          reply.complete(Self.response(error))
        }
      }
    }
  }

  /// Responds at once, for responses that need neither the store nor time.
  func admitted(_ request: Request, _ make: (HTTPServer.Credentials) -> Response) -> Answer {
    guard let peer = peer(of: request) else { return .now(refused(request)) }
    return .now(make(peer))
  }

  /// The response to a request that matches no route of the admin socket.
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
      .service, "admin.refused", user, .refused, detail: "the user may not use the admin socket", once: true)
    return Self.response(
      AdminError(
        .notAllowed,
        "\(user) may not use the admin socket; only root, the service's user and members of its admin group may",
        hint: "use sudo, or join the group: sudo usermod -aG regent-admin $USER, then log in again"))
  }

  private static func response(_ error: AdminError, _ status: Status? = nil) -> Response {
    var response = Response(
      status ?? error.code.status, type: "application/json", body: error.object.bytes())
    response.addHeader(.cacheControl, "no-store")
    return response
  }
}

/// Looks up the login names of user ids.
///
/// Each name is cached, because the lookup may use the network.
final class OperatorNames: Sendable {
  private static let most = 1_000
  private let known = Locked<[UInt32: OperatorName]>([:])

  var count: Int { known.withLock { $0.count } }

  func name(of user: UInt32) -> OperatorName {
    if let name = known.withLock({ $0[user] }) { return name }
    let text = Accounts.title(of: user, numberedBy: "uid ")
    let name = OperatorName(text) ?? Self.nameless
    // No machine has more administrators than this. When the cache is emptied, each name is just looked up again.
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

extension OperatorName {
  /// Adds the person who became root, as `regentctl` reports: `root (anna)`.
  ///
  /// Only root is believed, because root can change the log anyway.
  fileprivate func behind(_ request: Request, _ peer: HTTPServer.Credentials) -> OperatorName {
    guard peer.user == 0, let header = HeaderName(AdminPaths.invokerHeader),
      let person = request.header(header).flatMap({ OperatorName($0) }), person.text.utf8.count <= 64
    else { return self }
    return OperatorName("\(text) (\(person.text))") ?? self
  }
}

extension AdminError.Code {
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
