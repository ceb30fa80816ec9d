import CommandKit
import HTTPServer
import RegentPlatform

/// The daemon's sockets, and the folders that were created for them.
///
/// Either systemd has opened the sockets, or the daemon opens its own.
struct DaemonSockets {
  /// The socket for all local programs.
  private(set) var common: ListenAddress
  /// The sockets that belong to one app each, by the names in `agent.conf`.
  private(set) var ofApps: [(name: String, address: ListenAddress)] = []
  private var folders: [String] = []

  /// The prefix of the descriptor names in the unit `regent-app@.socket`; the app's name follows.
  private static let appPrefix = "app-"

  init(
    _ settings: AgentSettings, _ variables: [String: String], _ process: Int32, mode: UInt32, apps: AppBook
  ) throws(CommandError) {
    let inherited: [InheritedSocket]
    do throws(SystemError) {
      inherited = try SocketActivation.inheritedSockets(environment: variables, processID: process)
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
    let runtime = variables["RUNTIME_DIRECTORY"]?.split(separator: ":").first
    let path =
      settings.socket ?? runtime.map { "\($0)/agent.sock" } ?? settings.socketPlaces.first ?? ""
    if let socket = inherited.first(where: { !$0.name.hasPrefix(Self.appPrefix) }) {
      common = .inherited(descriptor: socket.number)
    } else {
      common = .local(path: path, mode: mode, group: nil)
      // Creating the folder keeps other users from placing a socket at this path first.
      if settings.socket == nil, runtime == nil { try ensureFolder(of: path, isForOthers: mode & 0o077 != 0) }
    }
    for name in apps.sockets {
      if let socket = inherited.first(where: { $0.name == Self.appPrefix + name }) {
        ofApps.append((name, .inherited(descriptor: socket.number)))
        continue
      }
      // Under systemd, an app's socket exists only if its socket unit is enabled: the sandbox lets the daemon create no
      // sockets.
      guard inherited.isEmpty else { continue }
      let own = "\(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))/apps/\(name).sock"
      try ensureFolder(of: own, isForOthers: true)
      let isNamed = apps.rules.allSatisfy { $0.socket != name || $0.user != nil || $0.group != nil }
      // If the app's line names no user or group, the file mode is the only protection: only root and the daemon's own
      // user may connect.
      ofApps.append((name, .local(path: own, mode: isNamed ? mode : 0o600, group: nil)))
    }
  }

  private mutating func ensureFolder(of path: String, isForOthers: Bool) throws(CommandError) {
    guard let slash = path.lastIndex(of: "/") else { return }
    let folder = String(path[..<slash])
    do throws(FileError) {
      // Every user who may use the socket must be able to reach it through the folder.
      let isNew = try PrivateDirectory.ensure(
        folder, widest: isForOthers ? 0o755 : 0o700, mode: isForOthers ? 0o755 : 0o700)
      if isNew { folders.append(folder) }
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
  }

  func removeFolders() {
    for folder in folders.reversed() { try? PrivateDirectory.remove(folder) }
  }
}
