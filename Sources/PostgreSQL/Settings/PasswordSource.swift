import RegentPlatform

/// Where the password of a role is stored.
///
/// The password is read for each new connection, so that it can be changed while the program runs.
public enum PasswordSource: Hashable, Sendable {
  /// There is no password: the server trusts the Unix user, or requires none.
  case none
  /// The password is the only line of a private file.
  case file(String)
  /// The password is in a private file with lines `host:port:database:user:password`, like libpq's `~/.pgpass`.
  case list(String)

  /// The name of the systemd credential with the password: `LoadCredential=database-password:FILE`.
  public static let credentialName = "database-password"

  /// The first source of a password that exists: the given file, the service's credential, `~/.pgpass`.
  ///
  /// - Throws: an error when an environment variable would change the connection without the operator noticing.
  public static func find(
    file: String?, environment: [String: String], home: String?
  ) throws(PostgreSQLError) -> PasswordSource {
    // libpq would use these variables, and other processes of this user can read them.
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

  /// The maximum length of a password in bytes.
  ///
  /// PostgreSQL accepts longer ones, but they are not used in practice.
  private static let longest = 1_000
  private static let longestList = 1_000_000

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
      // libpq's password files call a Unix socket "localhost".
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

  /// Splits a line of the password file at colons.
  ///
  /// A backslash escapes the next byte.
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

/// A password read from a file.
///
/// Printing it or reflecting on it shows nothing.
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
  // systemd gives credentials the mode 0440, so that mode is accepted too.
  do throws(FileError) {
    return try DurableFile.read(path, limit: limit, widest: 0o640)
  } catch {
    throw unusable(error)
  }
}

private func unusable(_ error: FileError) -> PostgreSQLError {
  PostgreSQLError(.settings, "the file with the database's password cannot be used: \(error)", hint: error.hint)
}
