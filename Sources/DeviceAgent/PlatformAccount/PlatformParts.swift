import CommandKit
import RegentPlatform

/// The parts of the daemon that serve the apps of the box's shared account.
struct PlatformParts: Sendable {
  let host: PlatformHost
  let apps: AppBook
  let boxSignIn: BoxSignIn
  /// A problem with the stored decisions of an earlier run, for the log.
  let trouble: String?
  private let folder: String?
  private let beginning: @Sendable () async -> Void

  init(
    host: PlatformHost, apps: AppBook, boxSignIn: BoxSignIn, trouble: String? = nil, folder: String? = nil,
    beginning: @escaping @Sendable () async -> Void = {}
  ) {
    self.host = host
    self.apps = apps
    self.boxSignIn = boxSignIn
    self.trouble = trouble
    self.folder = folder
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
        boxSignIn: BoxSignIn(pairing, owner: Accounts.effectiveUser), trouble: permissions.trouble, folder: folder
      ) {
        let hasApps = !settings.appRules.isEmpty
        let begin: @Sendable () async -> Void = {
          await host.followDecisions()
          if hasApps { await account.prepareKey() }
        }
        await pairing.onSignIn { await begin() }
        await account.tellOfSignOut()
        await begin()
      }
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
  }

  /// Locks the folder for this daemon.
  ///
  /// If two daemons used one folder, each would make decisions of which the second daemon knows nothing.
  func claim() throws(CommandError) -> FolderClaim? {
    guard let folder else { return nil }
    do throws(FileError) {
      return try FolderClaim(folder)
    } catch {
      guard case .held(let holder) = error.kind else { throw CommandError(error.description, hint: error.hint) }
      let who = holder.map { " (process \($0))" } ?? ""
      throw CommandError(
        "another daemon uses \(folder)\(who)",
        hint: "stop that daemon, or use another folder for this one: --state DIR")
    }
  }

  /// Starts the background work of the box's shared account.
  func begin() async { await beginning() }

  func routes(_ socket: String?, _ lines: CappedLines) -> PlatformRoutes {
    PlatformRoutes(host: host, apps: apps, boxSignIn: boxSignIn, socket: socket, lines: lines)
  }
}

/// A lock on a folder, held for the lifetime of this object.
final class FolderClaim: Sendable {
  private let lock: FileLock

  init(_ folder: String) throws(FileError) { lock = try FileLock(at: "\(folder)/daemon.lock") }
}
