import CommandKit
import RegentPlatform

/// The daemon's part for apps, put together.
struct PlatformParts: Sendable {
  let host: PlatformHost
  let apps: AppBook
  let boxSignIn: BoxSignIn
  /// What the owner should know of earlier decisions.
  let trouble: String?
  private let beginning: @Sendable () async -> Void

  init(
    host: PlatformHost, apps: AppBook, boxSignIn: BoxSignIn, trouble: String? = nil,
    beginning: @escaping @Sendable () async -> Void = {}
  ) {
    self.host = host
    self.apps = apps
    self.boxSignIn = boxSignIn
    self.trouble = trouble
    self.beginning = beginning
  }

  init(_ settings: AgentSettings, _ source: EnablerSource, _ pairing: PairHost) throws(CommandError) {
    let folder = "\(settings.state)/platform"
    do throws(FileError) {
      try PrivateDirectory.ensure(folder)
      let permissions = try PermissionStore(folder: folder)
      let account = EnablerAccount(source, try BoxKeyFile(folder: folder))
      let host = PlatformHost(permissions, account)
      self.init(
        host: host, apps: AppBook(settings.appRules),
        boxSignIn: BoxSignIn(pairing, owner: Accounts.effectiveUser), trouble: permissions.trouble
      ) {
        await pairing.onSignIn { await host.followDecisions() }
        await account.tellOfSignOut()
        await host.followDecisions()
      }
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
  }

  /// What goes on without a question.
  func begin() async { await beginning() }

  func routes(_ socket: String?, _ lines: CappedLines) -> PlatformRoutes {
    PlatformRoutes(host: host, apps: apps, boxSignIn: boxSignIn, socket: socket, lines: lines)
  }
}
