// PostgreSQLTestSupport: starts real PostgreSQL servers for tests. Each is Debian's PostgreSQL in its own folder; it
// listens on a Unix socket there and on a port of the loopback address. PostgreSQL refuses to run as root, so under
// root it runs as another user. `import Testing` stays in the test targets.

internal import Glibc
internal import TestSupport

/// A running server.
///
/// It ends when this object is released, and also when the test process ends in any way, even by SIGKILL.
public final class PostgreSQLServer: Sendable {
  /// Holds the database in `data`, the server's log in `log`, the certificates and the Unix socket.
  public let folder: String
  public let port: UInt16
  /// Write end of a pipe that stays open as long as this object.
  ///
  /// A shell reads the pipe and ends the server when it closes.
  private let leash: Int32

  /// One server with TLS for all tests of a process.
  ///
  /// No test may stop or freeze it.
  public static let shared = Result { try PostgreSQLServer() }

  /// Starts a server with an empty database `regent`, and the roles `regent` (superuser, no password asked) and
  /// `locked` (password `correct horse`, always asked).
  ///
  /// `settings` are lines of `postgresql.conf`. A standby follows a primary that never appears.
  public init(_ settings: [String] = [], isStandby: Bool = false) throws {
    let template = try serverTemplate.get()
    folder = try makeTemporaryFolder()
    port = try freePort()
    let copied = try run("cp", ["-a", "\(template)/.", folder])
    guard copied.status == 0 else { throw TestSupportError("no copy of the database: \(copied.errorText)") }
    try appendServerFile(
      "\(folder)/data/postgresql.conf",
      [
        "listen_addresses = '127.0.0.1'", "port = \(port)", "unix_socket_directories = '\(folder)'", "ssl = on",
        "ssl_cert_file = '\(folder)/server.pem'", "ssl_key_file = '\(folder)/server.key'",
        // Without fsync: tests do not survive a power cut, and killing the server loses nothing that the kernel has.
        "fsync = off", "max_connections = 400", "shared_buffers = 16MB", "deadlock_timeout = 100ms",
      ] + settings)
    if isStandby { try appendServerFile("\(folder)/data/standby.signal", []) }
    let fifo = "\(folder)/leash"
    guard unsafe mkfifo(fifo, 0o600) == 0 else { throw TestSupportError("no pipe \(fifo)") }
    leash = unsafe open(fifo, O_RDWR | O_CLOEXEC)
    guard leash >= 0 else { throw TestSupportError("cannot open \(fifo)") }
    // When this process ends, the shell ends the server, even a frozen one, and removes the folder.
    let script = """
      "$@" >>"$0/log" 2>&1 </dev/null & server=$!
      echo $server >"$0/pid"
      cat "$0/leash" >/dev/null
      kill -QUIT $server 2>/dev/null
      kill -CONT $server $(cat /proc/$server/task/$server/children 2>/dev/null) 2>/dev/null
      for turn in 1 2 3 4 5 6 7 8 9 10; do kill -0 $server 2>/dev/null || break; sleep 0.2; done
      kill -KILL $server 2>/dev/null; rm -rf "$0"
      """
    let command = asServerUser([serverProgram("postgres"), "-D", "\(folder)/data"])
    let started = try run("setsid", ["-f", "bash", "-c", script, folder] + command)
    guard started.status == 0 else { throw TestSupportError("the server did not start: \(started.errorText)") }
    try eventually("the server to start") { isReady || hasEnded }
    guard isReady else {
      throw TestSupportError("the server ended: \(String(decoding: try readFile("\(folder)/log"), as: UTF8.self))")
    }
  }

  deinit { close(leash) }

  /// Whether the server accepts connections.
  public var isReady: Bool {
    let asked = try? run(serverProgram("pg_isready"), ["-q", "-h", folder, "-p", "\(port)"])
    return asked?.status == 0
  }

  private var hasEnded: Bool {
    guard let pid = try? pid else { return false }
    return kill(pid, 0) != 0
  }

  /// The process that accepts connections.
  public var pid: Int32 {
    get throws {
      let text = String(decoding: try readFile("\(folder)/pid"), as: UTF8.self)
      guard let number = Int32(text.prefix { $0.isNumber }) else { throw TestSupportError("no process number") }
      return number
    }
  }

  public var socketURL: String { "postgresql://regent@\(folder.replacing("/", with: "%2F")):\(port)/regent" }

  /// A URL over TCP for the role `user`.
  public func tcpURL(_ user: String = "regent", host: String = "127.0.0.1") -> String {
    "postgresql://\(user)@\(host):\(port)/regent"
  }

  /// The certificate authority that signed the server's certificate, which is valid for `localhost` and 127.0.0.1.
  public var authority: String { "\(folder)/authority.pem" }
  /// A certificate authority that has signed no certificate.
  public var stranger: String { "\(folder)/stranger.pem" }
}

/// A data folder of a server that was never started.
///
/// A process makes it once and copies it for each server.
private let serverTemplate = Result { () throws -> String in
  let folder = try makeTemporaryFolder()
  let user = serverUser
  func check(_ program: String, _ arguments: [String]) throws {
    let done = try run(program, arguments, environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
    guard done.status == 0 else { throw TestSupportError("\(program): \(done.errorText)\(done.outputText)") }
  }
  if let user { try check("chown", [user, folder]) }
  let initdb = asServerUser([
    serverProgram("initdb"), "-D", "\(folder)/data", "-U", "regent", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8",
    "--auth=trust",
  ])
  try check(initdb[0], Array(initdb.dropFirst()))
  try makeCertificates(folder, check)
  try appendServerFile("\(folder)/data/pg_hba.conf", [])
  try writeServerFile(
    "\(folder)/data/pg_hba.conf",
    "local all locked scram-sha-256\nhost all locked all scram-sha-256\nlocal all all trust\nhost all all all trust\n")
  let setUp = asServerUser([
    "bash", "-c",
    """
    printf '%s\\n' "CREATE DATABASE regent" "CREATE ROLE locked LOGIN PASSWORD 'correct horse'" |
      "$0" --single -D "$1" postgres >/dev/null
    """, serverProgram("postgres"), "\(folder)/data",
  ])
  try check(setUp[0], Array(setUp.dropFirst()))
  atexit { if case .success(let folder) = serverTemplate { removeTree(folder) } }
  return folder
}

/// Makes a certificate authority, a server certificate signed by it, and a second authority that signs nothing.
private func makeCertificates(_ folder: String, _ check: (String, [String]) throws -> Void) throws {
  for name in ["authority", "stranger"] {
    try check(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
        "/CN=\(name)", "-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).pem",
      ])
  }
  try check(
    "openssl",
    [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
      "/CN=database", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE",
      "-CA", "\(folder)/authority.pem", "-CAkey", "\(folder)/authority.key", "-keyout", "\(folder)/server.key", "-out",
      "\(folder)/server.pem",
    ])
  for name in ["server.key", "server.pem", "authority.pem", "stranger.pem"] {
    if let user = serverUser { try check("chown", [user, "\(folder)/\(name)"]) }
  }
}

/// The path of a PostgreSQL program in the newest installed version; Debian keeps them out of PATH.
private func serverProgram(_ name: String) -> String {
  for version in (15...30).reversed() {
    let path = "/usr/lib/postgresql/\(version)/bin/\(name)"
    if unsafe access(path, X_OK) == 0 { return path }
  }
  return name
}

/// The user as which the server runs when the test runs as root, because the server refuses root.
private var serverUser: String? {
  guard geteuid() == 0 else { return nil }
  return unsafe getpwnam("postgres") == nil ? "nobody" : "postgres"
}

private func asServerUser(_ command: [String]) -> [String] {
  guard let user = serverUser else { return command }
  return ["setpriv", "--reuid=\(user)", "--regid=\(serverGroup(of: user))", "--clear-groups", "--"] + command
}

private func serverGroup(of user: String) -> String {
  guard let record = unsafe getpwnam(user) else { return "nogroup" }
  return unsafe String(record.pointee.pw_gid)
}

private func appendServerFile(_ path: String, _ lines: [String]) throws {
  let before = (try? readFile(path)) ?? []
  try writeServerFile(path, String(decoding: before, as: UTF8.self) + lines.map { "\($0)\n" }.joined())
}

private func writeServerFile(_ path: String, _ text: String) throws {
  try writeFile(path, Array(text.utf8))
  guard let user = serverUser else { return }
  let done = try run("chown", [user, path])
  guard done.status == 0 else { throw TestSupportError("chown \(path): \(done.errorText)") }
}
