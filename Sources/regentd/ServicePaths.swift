import CommandKit
import Glibc
import PairingService
import PostgreSQL
import RegentPlatform

extension ServicePaths {
  /// Determines each path from the options or the data directory, and rejects files that other users may read or write.
  ///
  /// Creates the data directory if `makesFolder` is true, and nothing else.
  init(_ call: Invocation, makesFolder: Bool) throws {
    let environment = call.environment
    let home = DataDirectory(environment)
    adminGroups = try ServeCommand.adminGroups.compactMap { role, option in
      try call[option].map { AdminGroup(role, $0, try groupNumber($0, option.specification.name)) }
    }
    web = try webFolder(call[ServeCommand.web])

    // Given paths are checked before anything is created.
    server = try Self.server(call[ServeCommand.database], call)
    let givenDatabase = server == nil ? call[ServeCommand.database] : nil
    let givenKey = try call[ServeCommand.masterKey] ?? credential(environment)
    let givenSocket = call[ServeCommand.adminSocket] ?? runtimePath(environment)
    if let givenDatabase {
      try checkFolder(of: givenDatabase, "--database")
      try naming("--database") { () throws(FileError) in _ = try PrivateFile.check(givenDatabase) }
    }
    if let givenKey {
      try checkFolder(of: givenKey, "--master-key")
      try naming("--master-key") { () throws(FileError) in try checkKey(givenKey, environment) }
    }
    if let givenSocket { try checkSocketPath(givenSocket) }

    database = try server != nil ? "" : givenDatabase ?? home.path(of: "regent.db")
    masterKey = try givenKey ?? home.path(of: "master-key")
    stateFolders = home.folders(masterKey)
    masterKeyMode = widestMode(ofKey: masterKey, environment)
    adminSocket = try givenSocket ?? home.path(of: "admin.sock")
    guard [server == nil ? givenDatabase : "", givenKey, givenSocket].contains(nil) else { return }
    if makesFolder {
      try PrivateDirectory.ensure(try home.folder())
    } else {
      // If only the socket is in the data directory, the directory is not checked: it may be in root's home, while the
      // process continues as another user.
      guard givenDatabase == nil || givenKey == nil, try PrivateDirectory.check(home.folder())
      else { return }
    }
    if server == nil { try PrivateFile.check(database) }
    try checkKey(masterKey, environment)
    try checkSocketPath(adminSocket)
  }
}

extension ServicePaths {
  /// The path of the database, without checks.
  ///
  /// It is empty if the database is on a server.
  static func database(_ call: Invocation) throws -> String {
    guard let given = call[ServeCommand.database] else {
      return try DataDirectory(call.environment).path(of: "regent.db")
    }
    return isServer(given) ? "" : given
  }

  /// The path of a file that is in the service's data directory: the database, or the file with the master key if the
  /// database is on a server.
  static func ownFile(_ call: Invocation) throws -> String {
    let database = try database(call)
    guard database.isEmpty else { return database }
    return try call[ServeCommand.masterKey] ?? DataDirectory(call.environment).path(of: "master-key")
  }

  /// The name of the database in messages.
  var shownDatabase: String { server.map { "“\($0.database)” of the server" } ?? database }

  /// The paths for a command that needs a database in a file; throws for a server.
  init(ofFile call: Invocation) throws {
    guard try !Self.database(call).isEmpty else {
      throw CommandError.usage(
        "this command works only with a database in a file, but --database names a server",
        hint: "remove the option, or use --database FILE")
    }
    try self.init(ofDatabase: call, server: nil)
  }

  /// Only the paths of the database and of its master key, for commands that run beside a service or while none runs.
  init(ofDatabase call: Invocation) throws {
    try self.init(ofDatabase: call, server: Self.server(call[ServeCommand.database], call))
  }

  private init(ofDatabase call: Invocation, server: ConnectionSettings?) throws {
    let home = DataDirectory(call.environment)
    let key = try call[ServeCommand.masterKey] ?? credential(call.environment)
    database = try Self.database(call)
    masterKey = try key ?? home.path(of: "master-key")
    masterKeyMode = widestMode(ofKey: masterKey, call.environment)
    stateFolders = home.folders(masterKey)
    self.server = server
    (adminSocket, adminGroups, web) = ("", [], "")
    if server == nil { try checkFolder(of: database, "--database") }
    guard
      try PrivateFile.check(masterKey, widest: masterKeyMode)
    else {
      throw CommandError(
        "the master key \(masterKey) is missing",
        hint: "copy the key file to that path, or name it with --master-key FILE; if you meant the installed service, "
          + "put STATE_DIRECTORY=/var/lib/regentd before the command")
    }
  }
}

private func checkSocketPath(_ path: String) throws {
  // The address of a Unix socket has at most 107 bytes; a longer path would be cut.
  _ = try SocketAddress(unixPath: path)
  let isFile = (try? PrivateFile.check(path, widest: 0o7777)) == true
  if isFile || isFolder(path) {
    throw CommandError(
      "the admin socket \(path) exists and is not a socket",
      hint: "look at it with ls -ld \(shellQuoted(path)), then move it away, or choose another path")
  }
  try checkFolder(of: path, "--admin-socket")
}

/// The folder of a file.
func folder(of path: String) -> String {
  let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
    separator: "/")
  return parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent
}

/// Checks that the folder of a file exists.
///
/// The first start creates a missing file, but not its folder.
private func checkFolder(of path: String, _ option: String) throws {
  let folder = folder(of: path)
  do throws(SystemError) {
    _ = try FileDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
  } catch {
    guard error.code == ENOENT else {
      throw CommandError(
        "\(option): \(error.description)", hint: error.hint ?? "check the path: ls -ld \(shellQuoted(folder))")
    }
    throw CommandError(
      "\(option): there is no folder \(folder)",
      hint: "run mkdir -m 700 \(shellQuoted(folder))")
  }
}

/// Runs a check of a file, and adds the option's name to its error.
func naming(_ option: String, _ check: () throws(FileError) -> Void) throws(CommandError) {
  do throws(FileError) {
    try check()
  } catch {
    throw CommandError("\(option): \(error.description)", hint: error.hint)
  }
}

private func checkKey(_ path: String, _ environment: Environment) throws(FileError) {
  try PrivateFile.check(path, widest: widestMode(ofKey: path, environment))
}

/// The widest mode that the key file may have.
///
/// A systemd credential that is granted by an access list has mode 0440.
private func widestMode(ofKey path: String, _ environment: Environment) -> UInt32 {
  let isCredential = environment["CREDENTIALS_DIRECTORY"].map { path.hasPrefix("\($0)/") } ?? false
  return isCredential ? 0o640 : 0o600
}

/// The data directory: the folder for files that no option places elsewhere.
private struct DataDirectory {
  let environment: Environment

  init(_ environment: Environment) { self.environment = environment }

  func path(of name: String) throws -> String { "\(try folder())/\(name)" }

  func folder() throws -> String {
    let folder = try found()
    // The environment variable is not valid UTF-8. Swift replaced the invalid bytes, so the path would name another
    // folder.
    guard !folder.unicodeScalars.contains("\u{fffd}") else {
      throw CommandError(
        "the path of the data directory is not valid UTF-8",
        hint: "set STATE_DIRECTORY to a path in UTF-8")
    }
    return folder
  }

  /// The existing folders in which a move may have left a marker file: the data directory and that of the master key.
  func folders(_ masterKey: String) -> [String] {
    let other = regentd.folder(of: masterKey)
    guard let own = try? folder(), own != other else { return [other] }
    return [own, other]
  }

  private func found() throws -> String {
    // systemd separates several folders with colons; the first one is the data directory.
    if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first {
      return String(given)
    }
    // The XDG specification requires to ignore relative paths.
    if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") { return "\(base)/regent" }
    if let home = try environment["HOME"] ?? Accounts.user(id: Accounts.effectiveUser)?.home,
      home.hasPrefix("/")
    {
      return "\(home)/.local/state/regent"
    }
    throw CommandError(
      "there is no data directory: this user has no home directory",
      hint: "set STATE_DIRECTORY=FOLDER, or add --database, --master-key and --admin-socket")
  }
}

/// The master key that systemd passes as a credential.
private func credential(_ environment: Environment) throws -> String? {
  guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
  let path = "\(folder)/master-key"
  return try PrivateFile.check(path, widest: 0o640) ? path : nil
}

private func runtimePath(_ environment: Environment) -> String? {
  environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first.map { "\($0)/admin.sock" }
}

private func groupNumber(_ name: String, _ option: String) throws -> UInt32 {
  guard let number = try Accounts.group(named: name) else {
    throw CommandError(
      "--\(option): there is no group \(name)",
      hint: "run groupadd --system \(shellQuoted(name))")
  }
  return number
}

/// The folder with the web pages: the given one, or the installed one, or that of the source tree.
private func webFolder(_ given: String?) throws -> String {
  if let given {
    guard isFolder(given) else {
      throw CommandError(
        "--web: \(given) is not a readable folder",
        hint: "check it: ls -ld \(shellQuoted(given))")
    }
    return given
  }
  let installed = ProgramPlace.prefix.map { "\($0)/share/regent/web" }
  let paths = [installed, "./web"].compactMap(\.self)
  guard let found = paths.first(where: isFolder) else {
    throw CommandError(
      "the folder with the phone's pages was not found in \(paths.joined(separator: " or "))",
      hint: "add --web FOLDER, or set REGENT_WEB")
  }
  return found
}

private func isFolder(_ path: String) -> Bool {
  (try? FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)) != nil
}
