import CommandKit
import RegentPlatform

/// The daemon's part for apps, put together.
struct PlatformParts: Sendable {
  let host: PlatformHost
  let apps: AppBook
  let boxSignIn: BoxSignIn
  /// What the owner should know of earlier decisions.
  let trouble: String?

  init(host: PlatformHost, apps: AppBook, boxSignIn: BoxSignIn, trouble: String? = nil) {
    self.host = host
    self.apps = apps
    self.boxSignIn = boxSignIn
    self.trouble = trouble
  }

  init(_ settings: AgentSettings, _ source: EnablerSource, _ pairing: PairHost) throws(CommandError) {
    let folder = "\(settings.state)/platform"
    do throws(FileError) {
      try PrivateDirectory.ensure(folder)
      let permissions = try PermissionStore(folder: folder)
      let account = EnablerAccount(source, try BoxKeyFile(folder: folder))
      self.init(
        host: PlatformHost(permissions, account), apps: AppBook(settings.appRules),
        boxSignIn: BoxSignIn(pairing, owner: Accounts.effectiveUser), trouble: permissions.trouble)
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
  }

  func routes(_ socket: String?, _ report: @escaping @Sendable (String) -> Void) -> PlatformRoutes {
    PlatformRoutes(host: host, apps: apps, boxSignIn: boxSignIn, socket: socket, report: report)
  }
}
