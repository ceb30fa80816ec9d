import CPostgreSQL
import Glibc
import RegentPlatform

/// A connection that is being established to one server.
@safe struct Attempt: ~Copyable {
  private let host: ConnectionSettings.Host
  private let database: String
  private let library: ClientLibrary
  private let notices: NoticeLog
  private var handle: OpaquePointer?

  init(
    _ host: ConnectionSettings.Host, _ library: ClientLibrary, _ parameters: [(name: String, value: [UInt8])]
  ) throws(PostgreSQLError) {
    self.host = host
    self.library = library
    database = parameters.first { $0.name == "dbname" }.map { String(decoding: $0.value, as: UTF8.self) } ?? ""
    notices = NoticeLog(library)
    let names = parameters.map { Array($0.name.utf8) }
    let started = unsafe withCStrings(names) { names in
      unsafe withCStrings(parameters.map(\.value)) { values in unsafe library.connectStart(names, values, 0) }
    }
    guard let started = unsafe started else { throw PostgreSQLError(.unreachable, "there is no memory to connect") }
    unsafe handle = unsafe started
    // Messages are verbose, because they then contain the SQLSTATE. The rest of a message is in the server's language.
    _ = unsafe library.setVerbosity(started, PQERRORS_VERBOSE)
    unsafe notices.listen(to: started)
  }

  deinit { if let handle = unsafe handle { unsafe library.finish(handle) } }

  /// Continues the handshake until the server has accepted the login.
  consuming func finish(by deadline: Deadline) throws(PostgreSQLError) -> Connection {
    guard let handle = unsafe handle, unsafe library.status(handle) != CONNECTION_BAD else { throw refusal }
    var events = POLLOUT
    while true {
      guard deadline.wait(for: events, on: unsafe library.socket(handle)) != 0 else {
        throw PostgreSQLError(
          .unreachable, "\(host) did not answer in time", hint: "see whether it runs: pg_isready -h HOST -p PORT")
      }
      switch unsafe library.connectPoll(handle) {
      case PGRES_POLLING_READING: events = POLLIN
      case PGRES_POLLING_WRITING: events = POLLOUT
      case PGRES_POLLING_OK:
        guard unsafe library.setNonBlocking(handle, 1) == 0 else { throw refusal }
        unsafe self.handle = nil
        return unsafe Connection(owning: handle, library, notices, host)
      default: throw refusal
      }
    }
  }

  /// The reason why libpq gave up connecting.
  private var refusal: PostgreSQLError {
    guard let handle = unsafe handle else { return PostgreSQLError(.unreachable, "\(host) cannot be reached") }
    let words = unsafe library.errorMessage(handle).map { unsafe String(cString: $0) } ?? ""
    // The reason is in the first line that contains ": " and does not begin with LOCATION.
    let lines = TextLines.texts(of: Array(words.utf8)).filter { $0.contains(": ") && !$0.hasPrefix("LOCATION") }
    let line = lines.first ?? "\(host) cannot be reached"
    if let state = state(in: line) {
      return PostgreSQLError(
        .refused, sentence(for: state, line),
        hint: state == .noRight ? "as its owner: GRANT CONNECT ON DATABASE DATABASE TO ROLE" : hint(for: state))
    }
    if unsafe library.needsPassword(handle) == 1 {
      return PostgreSQLError(
        .refused, "\(host) asks for a password, and there is none",
        hint: "put it into a private file, the service's credential \(PasswordSource.credentialName), or ~/.pgpass")
    }
    // libpq's text before " failed: " names the server in its own form. The error names the host as the URL does.
    let why = line.firstRange(of: " failed: ").map { line[$0.upperBound...] }
    if let failure = encryptionFailure(why ?? line[...]) { return failure }
    return PostgreSQLError(
      .unreachable, why.map { "\(host) cannot be reached: \($0)" } ?? line,
      hint: "see whether it runs and is allowed through: pg_isready -h HOST -p PORT")
  }

  /// The error for a TLS failure, recognised by libpq's message, with a hint for that failure; nil for other failures.
  private func encryptionFailure(_ line: Substring) -> PostgreSQLError? {
    if line.contains("does not support SSL") {
      return PostgreSQLError(
        .untrusted, "\(host) offers no TLS: any machine on the way could read and change everything",
        hint: "give it a certificate for its name (ssl = on in postgresql.conf); "
          + "only on a network that you control: ?sslmode=disable")
    }
    if line.contains("root certificate file") {
      return PostgreSQLError(
        .untrusted, "\(host) cannot be checked: \(line)",
        hint: "see that this user may read the file with the authorities, and that it holds certificates (PEM); "
          + "another one is named in the URL: ?sslrootcert=FILE")
    }
    guard line.contains("certificate") || line.contains("SSL") else { return nil }
    let isBroken = !line.contains("certificate")
    let hint =
      if isBroken {
        "see what it offers, TLS 1.2 at least: openssl s_client -starttls postgres -connect HOST:PORT"
      } else if line.contains("does not match host name") {
        "name it in the URL as its certificate does, or give it a certificate for this name"
      } else if line.contains("verify failed") {
        "name the authority of its certificate in the URL, or the certificate itself if it is self-signed: "
          + "?sslrootcert=FILE; one whose time is over has to be made anew"
      } else {
        "see its certificate: openssl s_client -starttls postgres -connect HOST:PORT -showcerts"
      }
    return PostgreSQLError(
      isBroken ? .unreachable : .untrusted,
      isBroken ? "\(host) speaks no TLS with us: \(line)" : "\(host) could not prove who it is: \(line)", hint: hint)
  }

  /// The SQLSTATE in a line `… FATAL:  28P01: words`.
  private func state(in line: String) -> SQLState? {
    guard let mark = line.firstRange(of: ":  ") else { return nil }
    let code = line[mark.upperBound...].prefix(5)
    let isState = code.utf8.count == 5 && code.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
    guard isState, line[mark.upperBound...].dropFirst(5).hasPrefix(": ") else { return nil }
    return SQLState(String(code))
  }

  private func sentence(for state: SQLState, _ line: String) -> String {
    switch state {
    case .wrongPassword: "\(host) refused the password (\(state.code))"
    case .notAdmitted: "\(host) lets this role or this machine not in (\(state.code))"
    case .noDatabase: "\(host) has no database “\(database)” (\(state.code))"
    case .tooManyConnections: "\(host) has as many connections as it takes (\(state.code))"
    case .starting: "\(host) is starting or stopping (\(state.code))"
    case .noRight: "\(host) does not let this role into the database (\(state.code))"
    default: line
    }
  }
}

/// Calls `body` with an array of C strings that ends with a null pointer.
private func withCStrings<Result>(
  _ strings: [[UInt8]], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
) -> Result {
  var bytes: [UInt8] = []
  let places = strings.map { string in
    defer { bytes += string + [0] }
    return bytes.count
  }
  return unsafe bytes.withUnsafeBufferPointer { buffer in
    unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
      let pointers: [UnsafePointer<CChar>?] =
        unsafe places.map { place in unsafe characters.baseAddress.map { unsafe $0 + place } } + [nil]
      return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
    }
  }
}
