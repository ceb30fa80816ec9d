import CommandKit
import Glibc
import PostgreSQL
import RegentPlatform

extension ServicePaths {
  /// Finds each place, as it was given or in the data directory, and refuses what others could read or write.
  ///
  /// The data directory is made when it is missing, if that is wanted; nothing else is.
  init(_ call: Invocation, makesFolder: Bool) throws {
    let environment = call.environment
    let home = DataDirectory(environment)
    adminGroup = try call[ServeCommand.adminGroup].map(groupNumber)
    web = try webFolder(call[ServeCommand.web])

    // What was given is looked at before anything is created.
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
      // For the socket alone it is of no interest: it may be in the home of root, who goes on as somebody else.
      guard givenDatabase == nil || givenKey == nil, try PrivateDirectory.check(home.folder())
      else { return }
    }
    if server == nil { try PrivateFile.check(database) }
    try checkKey(masterKey, environment)
    try checkSocketPath(adminSocket)
  }
}

extension ServicePaths {
  /// Where the database is, before anything is looked at; one on a server has no place of ours.
  static func database(_ call: Invocation) throws -> String {
    guard let given = call[ServeCommand.database] else {
      return try DataDirectory(call.environment).path(of: "regent.db")
    }
    return isServer(given) ? "" : given
  }

  /// A file in the folder that is the service's own: the database, or the key to the one on a server.
  static func ownFile(_ call: Invocation) throws -> String {
    let database = try database(call)
    guard database.isEmpty else { return database }
    return try call[ServeCommand.masterKey] ?? DataDirectory(call.environment).path(of: "master-key")
  }

  /// The database as it is named to people.
  var shownDatabase: String { server.map { "“\($0.database)” of the server" } ?? database }

  /// The same for what needs a file: a server is refused.
  init(ofFile call: Invocation) throws {
    guard try !Self.database(call).isEmpty else {
      throw CommandError.usage(
        "--database must be a file for this command", hint: "remove the option, or use --database FILE")
    }
    try self.init(ofDatabase: call, server: nil)
  }

  /// The database and its key alone, for what is done beside a service or while none runs.
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
    (adminSocket, adminGroup, web) = ("", nil, "")
    if server == nil { try checkFolder(of: database, "--database") }
    guard
      try PrivateFile.check(masterKey, widest: masterKeyMode)
    else {
      throw CommandError(
        "the master key \(masterKey) is missing",
        hint: "copy the master key there, or add --master-key FILE; for the installed service set "
          + "STATE_DIRECTORY=/var/lib/regentd")
    }
  }
}

private func checkSocketPath(_ path: String) throws {
  // A kernel address holds 107 bytes; a longer path would be cut there.
  _ = try SocketAddress(unixPath: path)
  let isFile = (try? PrivateFile.check(path, widest: 0o7777)) == true
  if isFile || isFolder(path) {
    throw CommandError(
      "the admin socket \(path) exists and is not a socket",
      hint: "move it away, or choose another path: ls -ld \(shellQuoted(path))")
  }
  try checkFolder(of: path, "--admin-socket")
}

/// The folder that holds a file.
func folder(of path: String) -> String {
  let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
    separator: "/")
  return parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent
}

/// A file that does not exist yet is made at the first start; its folder is not.
private func checkFolder(of path: String, _ option: String) throws {
  let folder = folder(of: path)
  do throws(SystemError) {
    _ = try FileDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
  } catch {
    guard error.code == ENOENT else {
      throw CommandError("\(option): \(error.description)", hint: error.hint)
    }
    throw CommandError(
      "\(option): there is no folder \(folder)",
      hint: "run mkdir -m 700 \(shellQuoted(folder))")
  }
}

/// Has a refused file say which option named it.
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

/// A credential of systemd that was granted through an access list shows as 0440.
private func widestMode(ofKey path: String, _ environment: Environment) -> UInt32 {
  let isCredential = environment["CREDENTIALS_DIRECTORY"].map { path.hasPrefix("\($0)/") } ?? false
  return isCredential ? 0o640 : 0o600
}

/// The folder for every file that no option gives another place.
private struct DataDirectory {
  let environment: Environment

  init(_ environment: Environment) { self.environment = environment }

  func path(of name: String) throws -> String { "\(try folder())/\(name)" }

  func folder() throws -> String {
    let folder = try found()
    // A name that is not UTF-8 was repaired on its way here, and would be another folder than the one that was meant.
    guard !folder.unicodeScalars.contains("\u{fffd}") else {
      throw CommandError(
        "the path of the data directory is not valid UTF-8",
        hint: "set STATE_DIRECTORY to a path in UTF-8")
    }
    return folder
  }

  /// This one, if there is any, and the one of the master key: where a file is, or was, that moved to a server.
  func folders(_ masterKey: String) -> [String] {
    let other = regentd.folder(of: masterKey)
    guard let own = try? folder(), own != other else { return [other] }
    return [own, other]
  }

  private func found() throws -> String {
    // systemd gives several folders with colons between them; the first one is ours.
    if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first {
      return String(given)
    }
    // The standard says that a path that is not absolute is to be ignored.
    if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") { return "\(base)/regent" }
    if let home = try environment["HOME"] ?? Accounts.user(id: Accounts.effectiveUser)?.home,
      home.hasPrefix("/")
    {
      return "\(home)/.local/state/regent"
    }
    throw CommandError(
      "there is no data directory: this user has no home directory",
      hint: "set STATE_DIRECTORY, or add --database, --master-key and --admin-socket")
  }
}

/// The master key that the service manager hands over.
private func credential(_ environment: Environment) throws -> String? {
  guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
  let path = "\(folder)/master-key"
  return try PrivateFile.check(path, widest: 0o640) ? path : nil
}

private func runtimePath(_ environment: Environment) -> String? {
  environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first.map { "\($0)/admin.sock" }
}

private func groupNumber(_ name: String) throws -> UInt32 {
  guard let number = try Accounts.group(named: name) else {
    throw CommandError(
      "--admin-group: there is no group \(name)",
      hint: "run groupadd --system \(shellQuoted(name))")
  }
  return number
}

/// The folder given, else the one that was installed, else the one of the source tree.
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
