import CommandKit
import HTTPServer
import RegentPlatform

/// Where the daemon listens: the sockets that systemd opened, else its own; and the folders that were made for them.
struct DaemonSockets {
  /// For every local program.
  private(set) var common: ListenAddress
  /// For one app each, by the names in `agent.conf`.
  private(set) var ofApps: [(name: String, address: ListenAddress)] = []
  private var folders: [String] = []

  /// What `regent-app@.socket` calls its descriptor before the app's name.
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
      // A folder of our own keeps others from putting their socket there first.
      if settings.socket == nil, runtime == nil { try ensureFolder(of: path, isForOthers: mode & 0o077 != 0) }
    }
    for name in apps.sockets {
      if let socket = inherited.first(where: { $0.name == Self.appPrefix + name }) {
        ofApps.append((name, .inherited(descriptor: socket.number)))
        continue
      }
      // Under systemd a socket without a unit of its own is nobody's: the sandbox lets the daemon make none.
      guard inherited.isEmpty else { continue }
      let own = "\(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))/apps/\(name).sock"
      try ensureFolder(of: own, isForOthers: true)
      let isNamed = apps.rules.allSatisfy { $0.socket != name || $0.user != nil || $0.group != nil }
      // A line that names nobody besides means whoever the mode lets in: the daemon's own user and root.
      ofApps.append((name, .local(path: own, mode: isNamed ? mode : 0o600, group: nil)))
    }
  }

  private mutating func ensureFolder(of path: String, isForOthers: Bool) throws(CommandError) {
    guard let slash = path.lastIndex(of: "/") else { return }
    let folder = String(path[..<slash])
    do throws(FileError) {
      // Whoever may use the socket has to reach it.
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
