import RegentPlatform

/// Where the password of a role stands; it is read for each new connection, so that it can be changed while this runs.
public enum PasswordSource: Hashable, Sendable {
  /// There is none: the server knows this machine's user, or asks for nothing.
  case none
  /// A private file that holds the password alone, in one line.
  case file(String)
  /// A private file with lines `host:port:database:user:password` (what libpq calls a password file).
  case list(String)

  /// The name under which systemd hands the password over: `LoadCredential=database-password:FILE`.
  public static let credentialName = "database-password"

  /// The first that there is: the file that was named, the credential of the service, `~/.pgpass`.
  ///
  /// - Throws: when the environment holds what would be used unseen.
  public static func find(
    file: String?, environment: [String: String], home: String?
  ) throws(PostgreSQLError) -> PasswordSource {
    // libpq would take them, and everything that runs as this user can read them.
    for name in ["PGPASSWORD", "PGOPTIONS", "PGSERVICE"] where environment[name]?.isEmpty == false {
      throw PostgreSQLError(
        .settings, "\(name) is set in the environment, and would change the connection unseen",
        hint: "unset \(name); a password belongs into a file")
    }
    if let file { return .file(file) }
    if let folder = environment["CREDENTIALS_DIRECTORY"], try isThere("\(folder)/\(credentialName)", 0o640) {
      return .file("\(folder)/\(credentialName)")
    }
    if let home, try isThere("\(home)/.pgpass", 0o600) { return .list("\(home)/.pgpass") }
    return .none
  }

  /// The most that a password may have; PostgreSQL itself takes longer ones, nobody does.
  private static let longest = 1_000
  private static let longestList = 1_000_000

  /// The password for one server.
  func password(
    for host: ConnectionSettings.Host, database: String, user: String
  ) throws(PostgreSQLError) -> Password? {
    switch self {
    case .none: return nil
    case .file(let path):
      var bytes = try read(path, limit: Self.longest + 2)
      if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
      if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
      guard !bytes.isEmpty, !bytes.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
        throw PostgreSQLError(
          .settings, "\(path) does not hold a password in one line", hint: "write the password alone into it")
      }
      return Password(bytes)
    case .list(let path):
      // What libpq's own lists call a Unix socket.
      let name = host.isSocket ? ["localhost", host.name] : [host.name]
      for line in try read(path, limit: Self.longestList).split(separator: UInt8(ascii: "\n"))
      where line.first != UInt8(ascii: "#") {
        let fields = Self.fields(line)
        guard fields.count == 5, !fields[4].isEmpty else { continue }
        func matches(_ place: Int, _ wanted: [String]) -> Bool {
          fields[place] == Array("*".utf8) || wanted.contains { Array($0.utf8) == fields[place] }
        }
        guard matches(0, name), matches(1, [String(host.port)]), matches(2, [database]), matches(3, [user]) else {
          continue
        }
        return Password(fields[4])
      }
      return nil
    }
  }

  /// The fields between colons; a backslash takes the next byte as it is.
  private static func fields(_ line: ArraySlice<UInt8>) -> [[UInt8]] {
    var fields: [[UInt8]] = [[]]
    var isEscaped = false
    for byte in line where byte != UInt8(ascii: "\r") {
      if isEscaped || (byte != UInt8(ascii: "\\") && (byte != UInt8(ascii: ":") || fields.count == 5)) {
        fields[fields.count - 1].append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else {
        fields.append([])
      }
    }
    return fields
  }
}

/// A password on its way from a file to libpq; printing one shows nothing.
struct Password: CustomStringConvertible, CustomReflectable {
  let bytes: [UInt8]

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  var description: String { "a password" }
  var customMirror: Mirror { Mirror(self, children: []) }
}

private func isThere(_ path: String, _ widest: UInt32) throws(PostgreSQLError) -> Bool {
  do throws(FileError) { return try PrivateFile.check(path, widest: widest) } catch { throw unusable(error) }
}

private func read(_ path: String, limit: Int) throws(PostgreSQLError) -> [UInt8] {
  // A systemd credential shows as 0440.
  do throws(FileError) {
    return try DurableFile.read(path, limit: limit, widest: 0o640)
  } catch {
    throw unusable(error)
  }
}

private func unusable(_ error: FileError) -> PostgreSQLError {
  PostgreSQLError(.settings, "the file with the database's password cannot be used: \(error)", hint: error.hint)
}
