import CommandKit
import RegentJSON
import RegentPlatform

/// The identity of a daemon, which every user who can connect may read: where its tokens are, and in which options it
/// differs from the settings of the command that asked.
struct DaemonIdentity: Sendable, Equatable {
  var state = ""
  var user: UInt32 = 0
  var differences: [String] = []

  var document: JSONValue {
    [
      "alive": true, "state": .string(state), "user": .integer(Int64(user)),
      "differs": .array(differences.map { .string($0) }),
    ]
  }

  /// Whether the daemon runs as another user than this process.
  var isForeign: Bool { user != Accounts.effectiveUser }

  func isAnother(at place: String) -> CommandError {
    CommandError(
      "the daemon at \(place) has other values for \(differences.joined(separator: ", ")) than this command",
      hint: "remove --socket to work without that daemon, or give the command the daemon's values",
      code: "daemon", exit: .usage)
  }
}

extension DaemonIdentity {
  init?(_ document: JSONValue) {
    guard let state = document["state"]?.string,
      let user = document["user"]?.int64.flatMap({ UInt32(exactly: $0) }),
      let differs = document["differs"]?.array
    else { return nil }
    self.init(state: state, user: user, differences: differs.compactMap(\.string))
  }
}

extension AgentSettings {
  /// Adapts these settings to a sign-in for the daemon that runs for this box, so that the daemon gets the new tokens.
  ///
  /// Root reads the credentials first and then becomes the daemon's user, who must be able to read the stored tokens.
  /// For another user, the daemon does the sign-in if agent.conf allows it.
  ///
  /// - Parameter order: the options of the sign-in.
  /// - Returns: the settings, and a link to the daemon if the daemon does the sign-in.
  /// - Throws: `CommandError` with a hint what to type.
  func besideDaemon(
    _ order: PairOrder
  ) async throws(CommandError) -> (settings: AgentSettings, link: (any PairLink)?) {
    guard usesOwnState, case .found(let daemon) = try await DaemonClient.find(self, together: true) else {
      return (self, nil)
    }
    let home = daemon.home
    var settings = self
    settings.state = home.state
    guard home.isForeign else { return (settings, nil) }
    let owner = try user(home.user)
    guard Accounts.effectiveUser == 0, owner != nil else {
      do throws(CommandError) {
        return (settings, try await DaemonLink(daemon, order))
      } catch {
        // A daemon of an earlier version does not know this request, so its answer cannot be read (error code
        // `daemon`).
        guard ["not-allowed", "daemon"].contains(error.code) else { throw error }
        throw cannotPair(beside: home)
      }
    }
    if order.oauth == nil { settings.keptCredentials = try credentials() }
    try become(home.user)
    return (settings, nil)
  }

  /// Adapts these settings to the daemon's folder, for commands that do not need the service.
  ///
  /// A process of root becomes the daemon's user.
  func inDaemonsFolder() async throws(CommandError) -> AgentSettings {
    guard usesOwnState, case .found(let daemon) = try await DaemonClient.find(self) else { return self }
    let home = daemon.home
    var settings = self
    settings.state = home.state
    guard home.isForeign else { return settings }
    guard Accounts.effectiveUser == 0 else {
      throw CommandError(
        "the daemon's data is in \(home.state), where this user may not write",
        hint: "run the command with sudo, or add --state DIR for this user only", code: "daemon")
    }
    try become(home.user)
    return settings
  }

  private func become(_ user: UInt32) throws(CommandError) {
    do throws(SystemError) {
      try ActingUser.become(user)
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
  }

  private var ownName: String {
    Accounts.title(of: Accounts.effectiveUser)
  }

  /// Starts a sign-in in this process: with the SDK at the TV service, or at another OAuth server.
  func link(_ order: PairOrder, buildTime: Int64) throws(CommandError) -> any PairLink {
    if let name = order.oauth {
      return try OAuthLink(name, in: state, isForced: order.isForced, proxy: proxy, buildTime: buildTime)
    }
    let recovery = Recovery()
    let enabler = try enabler(
      numberMatching: order.numberMatching, codeLifetime: order.lifetime.map { .milliseconds($0) },
      recovery: recovery, buildTime: buildTime)
    return try EnablerLink(enabler, self, order, recovery)
  }

  private func user(_ id: UInt32) throws(CommandError) -> UserAccount? {
    do throws(SystemError) {
      return try Accounts.user(id: id)
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
  }

  private func cannotPair(beside home: DaemonIdentity) -> CommandError {
    let place = socket.map { " --socket \(shellQuoted($0))" } ?? ""
    return CommandError(
      "the daemon stores its tokens in \(home.state) as user \(Accounts.title(of: home.user)); "
        + "this user may not write there",
      hint: "sign the box in as root: sudo regent pair\(place). To sign in for this user only, add --state DIR. To let "
        + "this user sign the box in, add \"allow = user:\(ownName) pair\" to /etc/regent/agent.conf, then run "
        + "sudo systemctl restart regent",
      code: "daemon")
  }
}
