internal import Administration
internal import RegentHTTPCodec
package import HTTPServer
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentPlatform

/// A group of this machine whose members have a role on the admin socket.
package struct AdminGroup: Sendable, Equatable {
  package let role: AdminRole
  package let name: String
  package let id: UInt32

  package init(_ role: AdminRole, _ name: String, _ id: UInt32) {
    self.role = role
    self.name = name
    self.id = id
  }
}

/// Decides which local users may use the admin socket, and with which role.
package struct AdminAccess: Sendable {
  private let ownUser: UInt32
  private let groups: [AdminGroup]

  /// Gives the role `owner` to root and to the user `ownUser`, under which the service runs, and to the members of each
  /// group its role.
  package init(ownUser: UInt32, groups: [AdminGroup]) {
    self.ownUser = ownUser
    self.groups = groups
  }

  /// The role of the client with these credentials; nil if it may not use the admin socket.
  ///
  /// The kernel reports the credentials. A member of several groups has the highest of their roles.
  package func role(of peer: HTTPServer.Credentials) -> AdminRole? {
    if peer.user == 0 || peer.user == ownUser { return .owner }
    return groups.filter { peer.isMember(of: $0.id) }.map(\.role).max()
  }

  /// The hint for a user who lacks a role.
  ///
  /// A user with a smaller role has it on purpose, so that user is sent to a person who has the larger one.
  func hint(for role: AdminRole, hasSmallerRole: Bool) -> String {
    let able = groups.filter { $0.role >= role }.min { $0.role < $1.role }
    guard !hasSmallerRole else {
      return "ask root"
        + (able.map { " or a member of the group \($0.name), which has the role \($0.role.rawValue)," } ?? "")
        + " to run the command"
    }
    guard let able else { return "use sudo; no group has the role \(role.rawValue): see configure.md" }
    return "use sudo, or join the group \(able.name), which has the role \(able.role.rawValue): "
      + "sudo usermod -aG \(shellQuoted(able.name)) $USER, then log in again"
  }
}

/// Checks for each request on the admin socket whether the user who sent it has the needed role, and converts errors to
/// responses.
struct AdminGuard: Sendable {
  private let core: ServiceCore
  private let access: AdminAccess
  private let names = OperatorNames()

  init(_ core: ServiceCore, _ access: AdminAccess) {
    self.core = core
    self.access = access
  }

  /// Runs an action outside the event loop and responds with its result, if the client has the needed role.
  func answer(
    _ request: Request, _ path: PathParameters, needs role: AdminRole, _ action: @escaping AdminAction
  ) -> Answer {
    guard let peer = peer(of: request, role), let ownRole = access.role(of: peer) else { return refused(request, role) }
    return .later { [core, names] reply in
      Task {
        do throws(AdminError) {
          let name = names.name(of: peer.user).behind(request, peer)
          let call = try AdminCall(request: request, path: path, operator: name, role: ownRole, core: core)
          reply.complete(try await action(call).response)
        } catch {
          reply.complete(Self.response(error))
        }
      }
    }
  }

  /// Responds at once, for responses that need neither the store nor time.
  func admitted(_ request: Request, needs role: AdminRole, _ make: () -> Response) -> Answer {
    peer(of: request, role) == nil ? refused(request, role) : .now(make())
  }

  /// The response to a request that matches no route of the admin socket.
  func refuse(_ request: Request, _ refusal: Refusal) -> Response {
    guard peer(of: request, .viewer) != nil else {
      return refused(request, .viewer, by: request.peer.credentials.map { "user \($0.user)" })
    }
    let error = AdminError(
      refusal.status == .notFound ? .notFound : .invalid,
      "the service does not know this request: \(refusal.status.reason)",
      hint: "check that regentctl and regentd have the same version")
    return Self.response(error, refusal.status)
  }

  private func peer(of request: Request, _ needed: AdminRole) -> HTTPServer.Credentials? {
    request.peer.credentials.flatMap { peer in
      access.role(of: peer).flatMap { $0 >= needed ? peer : nil }
    }
  }

  /// Responds outside the event loop, because the lookup of the user's name may use the network.
  private func refused(_ request: Request, _ needed: AdminRole) -> Answer {
    .later { reply in
      Task {
        let user = request.peer.credentials.map { Self.title(of: names.name(of: $0.user)) }
        reply.complete(refused(request, needed, by: user))
      }
    }
  }

  private static func title(of name: OperatorName) -> String {
    "user " + (name.text.hasPrefix("uid ") ? String(name.text.dropFirst(4)) : name.text)
  }

  private func refused(_ request: Request, _ needed: AdminRole, by name: String?) -> Response {
    let peer = request.peer.credentials
    let user = name ?? "a network peer"
    guard let peer, let role = access.role(of: peer) else {
      core.audit.note(
        .service, "admin.refused", user, .refused, detail: "the user may not use the admin socket", once: true)
      return Self.response(
        AdminError(
          .notAllowed,
          "\(user) may not use the admin socket; only root, the service's user and members of its admin groups may",
          hint: access.hint(for: .viewer, hasSmallerRole: false)))
    }
    let path = String(decoding: request.path, as: UTF8.self)
    // One line a minute for each kind of call, so that a member cannot fill the log with other paths.
    let kind = "\(request.method.token) " + path.split(separator: "/").prefix(2).joined(separator: "/")
    core.audit.note(
      .service, "admin.refused", user, .refused,
      detail:
        "\(request.method.token) \(path.shortened(to: 200)): the user has the role \(role.rawValue); the call needs "
        + needed.rawValue,
      onceFor: "\(user) \(kind)")
    return Self.response(
      AdminError(
        .notAllowed,
        "this needs the role \(needed.rawValue), and \(user) has the role \(role.rawValue)",
        hint: access.hint(for: needed, hasSmallerRole: true)))
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
