import RegentHTTPCodec

extension ConnectionSettings {
  /// Parses `postgresql://[user@]host[:port][,host[:port]…]/database[?name=value&…]`.
  ///
  /// The parameters are `host` (the directory of a Unix socket), `sslmode` (`verify-full`, `verify-ca`, `require`,
  /// `disable`), `sslrootcert`, `connect_timeout` (seconds for each server), `application_name`, and
  /// `target_session_attrs=read-write`, which is always in effect. Other parameters are refused, because an operator
  /// might rely on an ignored one for security.
  ///
  /// - Throws: an error whose message repeats nothing of the URL but names of parameters.
  public init(url: String) throws(PostgreSQLError) {
    guard let rest = Self.afterScheme(url) else {
      throw wrong("a database URL begins with postgresql://", "write it as postgresql://USER@HOST/DATABASE")
    }
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let place = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    // The last "@" ends the user name. The name may contain an unescaped "@", and the text after that must not be taken
    // for a host.
    let sign = place[0].lastIndex(of: "@")
    if let sign, place[0][..<sign].contains(":") { throw Self.passwordInside }
    let user = sign.map { place[0][..<$0] } ?? ""
    let hostText = sign.map { place[0][place[0].index(after: $0)...] } ?? place[0]
    guard place.count == 2, !place[1].isEmpty, !place[1].contains("/") else {
      throw wrong("the database URL names no database", "write it as postgresql://USER@HOST/DATABASE")
    }
    self.init(hosts: try Self.hosts(hostText), database: try Self.decoded(place[1], "the database's name"))
    if !user.isEmpty { self.user = try Self.decoded(user, "the user's name") }
    if parts.count == 2 { try read(parameters: parts[1]) }
    if hosts.isEmpty { hosts = [Host(name: Self.debianSocketFolder)] }
  }

  private static let debianSocketFolder = "/run/postgresql"
  private static let mostHosts = 16

  private static var passwordInside: PostgreSQLError {
    wrong(
      "the database URL holds a password, which every user of this machine could read in the list of processes",
      "take it out of the URL, change it on the server, and put the new one into a file")
  }

  private static func afterScheme(_ url: String) -> Substring? {
    for scheme in ["postgresql://", "postgres://"] where url.hasPrefix(scheme) { return url.dropFirst(scheme.count) }
    return nil
  }

  private static func hosts(_ text: Substring) throws(PostgreSQLError) -> [Host] {
    guard !text.isEmpty else { return [] }
    var found: [Host] = []
    for entry in text.split(separator: ",", omittingEmptySubsequences: false) { found.append(try host(entry)) }
    guard found.count <= mostHosts else { throw wrong("the database URL names more than \(mostHosts) hosts", nil) }
    return found
  }

  private static func host(_ text: Substring) throws(PostgreSQLError) -> Host {
    var name = text
    var port: Substring?
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      name = text[text.index(after: text.startIndex)..<end]
      let behind = text[text.index(after: end)...]
      guard behind.isEmpty || behind.hasPrefix(":") else { throw wrong("a host of the database URL is not one", nil) }
      port = behind.isEmpty ? nil : behind.dropFirst()
      guard IPAddress(name) != nil else { throw wrong("the database URL has no address between [ and ]", nil) }
    } else if let colon = text.firstIndex(of: ":") {
      (name, port) = (text[..<colon], text[text.index(after: colon)...])
    }
    let host = try decoded(name, "a host")
    guard !host.isEmpty, host.hasPrefix("/") || HostName(parsing: host) != nil || IPAddress(host) != nil else {
      throw wrong("a host of the database URL is neither a name, nor an address, nor a folder with a socket", nil)
    }
    guard let port else { return Host(name: host) }
    guard let number = UInt16(port), number > 0 else {
      throw wrong("a port of the database URL is not a number from 1 to 65535", nil)
    }
    return Host(name: host, port: number)
  }

  private mutating func read(parameters: Substring) throws(PostgreSQLError) {
    var seen: Set<String> = []
    for parameter in parameters.split(separator: "&") {
      let pair = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = try Self.decoded(pair[0], "a parameter")
      guard pair.count == 2 else { throw wrong("the parameter “\(shown(name))” of the database URL has no value", nil) }
      guard seen.insert(name).inserted else {
        throw wrong("the parameter “\(shown(name))” stands twice in the database URL", nil)
      }
      try set(name, try Self.decoded(pair[1], "the parameter “\(shown(name))”"))
    }
  }

  private mutating func set(_ name: String, _ value: String) throws(PostgreSQLError) {
    switch name {
    case "password", "passfile": throw Self.passwordInside
    case "host":
      guard value.hasPrefix("/"), hosts.isEmpty else {
        throw wrong("“host” is for the folder of a Unix socket, in a URL without other hosts", nil)
      }
      hosts = [Host(name: value)]
    case "sslmode":
      guard let mode = TLS(rawValue: value) else {
        throw wrong(
          "“sslmode” is verify-full, verify-ca, require or disable",
          "leave it out: another machine must then prove itself in full")
      }
      tls = mode
    case "sslrootcert":
      guard value.hasPrefix("/") else { throw wrong("“sslrootcert” is the whole path of a file, from / on", nil) }
      authorities = value
    case "connect_timeout":
      guard let seconds = Int(value), (1...60).contains(seconds) else {
        throw wrong("“connect_timeout” is a number of seconds from 1 to 60", nil)
      }
      hostPatience = .seconds(seconds)
    case "application_name": applicationName = value
    case "target_session_attrs":
      guard value == "read-write" else { throw wrong("“target_session_attrs” can only be read-write", nil) }
    default:
      throw wrong(
        "the database URL has a parameter “\(shown(name))” that is not known",
        "known are host, sslmode, sslrootcert, connect_timeout, application_name and target_session_attrs")
    }
  }

  private static func decoded(_ text: Substring, _ what: String) throws(PostgreSQLError) -> String {
    do throws(PercentDecodingError) {
      return try PercentDecoding.text(String(text))
    } catch {
      throw wrong("in the database URL, in \(what): \(error)", nil)
    }
  }
}

/// A parameter name from the URL, shortened and without characters that a terminal would interpret.
private func shown(_ name: String) -> String {
  String(name.unicodeScalars.prefix(40).map { $0.isASCII && $0.value > 32 && $0.value < 127 ? Character($0) : "?" })
}

private func wrong(_ message: String, _ hint: String?) -> PostgreSQLError {
  PostgreSQLError(.settings, message, hint: hint)
}

func isLoopback(_ text: String) -> Bool { IPAddress(text)?.isLoopback ?? false }
