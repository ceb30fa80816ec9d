import CommandKit
import Cryptography
import HTTPCodec
import Platform

/// Who this box is to the service.
enum AgentCredentials: Sendable {
  case keyPair(publicKey: String, secret: Secret)
  case softwareStatement(Secret)
}

/// The settings of one call: options before variables before the settings file.
struct AgentSettings: Sendable {
  let services: [AbsoluteURL]
  let requestor: String?
  let publicHost: HostName?
  let state: String
  let socket: String?
  let language: Language
  /// Who may use the daemon besides its own user.
  let allowances: [Allowance]
  private let publicKey: String?
  private let secretFile: String?
  private let statementFile: String?
  private let environment: Environment

  init(_ call: Invocation) throws(CommandError) {
    let conf = try Self.conf(call)
    let reader = SettingsReader(call: call, conf: conf)
    environment = call.environment
    services = try reader.list(AgentOptions.service, .webAddress)
    requestor = try reader.one(AgentOptions.requestor, .text)
    publicHost = try reader.one(AgentOptions.publicHost, .host)
    publicKey = try reader.one(AgentOptions.publicKey, .text)
    secretFile =
      try reader.one(AgentOptions.secretFile, .file) ?? credential("secret", environment)
    statementFile =
      try reader.one(AgentOptions.softwareStatement, .file)
      ?? credential("software-statement", environment)
    socket = try reader.one(AgentOptions.socket, .file)
    if let folder = try reader.one(AgentOptions.state, .folder) {
      state = folder
    } else {
      state = try defaultState(environment)
    }
    let wish = try reader.one(AgentOptions.language, .choice("en", "it", "es", "ko"))
    let variables = call.environment
    language = Language(asked: wish) { variables[$0] }
    var allowances: [Allowance] = []
    for text in conf.values["allow"] ?? [] {
      allowances.append(try Allowance(parsing: text, in: conf.path))
    }
    self.allowances = allowances
  }

  private static func conf(_ call: Invocation) throws(CommandError) -> AgentConf {
    if let path = call[AgentOptions.configuration] { return try AgentConf(path: path) }
    let environment = call.environment
    let own = environment["XDG_CONFIG_HOME"] ?? environment["HOME"].map { "\($0)/.config" }
    let places = [own.map { "\($0)/regent/agent.conf" }, "/etc/regent/agent.conf"]
    for place in places.compactMap(\.self) where isFile(place) {
      return try AgentConf(path: place)
    }
    return AgentConf()
  }
}

extension AgentSettings {
  /// The services, or what to type to have one.
  func neededServices() throws(CommandError) -> [AbsoluteURL] {
    guard !services.isEmpty else {
      throw .usage(
        "no service is configured",
        hint: "write --service https://HOST, or \"service = https://HOST\" in agent.conf")
    }
    return services
  }

  /// The requestor, or what to type to have one.
  func neededRequestor() throws(CommandError) -> String {
    guard let requestor else {
      throw .usage(
        "no requestor is configured",
        hint: "write --requestor ID, or \"requestor = ID\" in agent.conf")
    }
    return requestor
  }

  /// The credentials, read from their files now.
  func credentials() throws(CommandError) -> AgentCredentials {
    if let publicKey, let secretFile {
      return .keyPair(publicKey: publicKey, secret: try secret(in: secretFile, "--secret-file"))
    }
    if let statementFile {
      return .softwareStatement(try secret(in: statementFile, "--software-statement"))
    }
    throw .usage(
      "this box has no credentials",
      hint: "give --public-key and --secret-file (regentctl key issue REQUESTOR makes a pair)")
  }

  /// Which addresses may be shown.
  var addressCheck: AddressCheck { AddressCheck(services: services, publicHost: publicHost) }

  /// Where the daemon may listen for this user, best first.
  var socketPlaces: [String] {
    if let socket { return [socket] }
    let own = environment["XDG_RUNTIME_DIR"].map { "\($0)/regent/agent.sock" }
    return [own, "/run/regent/agent.sock"].compactMap(\.self)
  }

  private func secret(in path: String, _ option: String) throws(CommandError) -> Secret {
    do throws(FileError) {
      // A credential of systemd that was granted through an access list shows as 0440.
      let isCredential =
        environment["CREDENTIALS_DIRECTORY"].map { path.hasPrefix("\($0)/") } ?? false
      var bytes = try DurableFile.read(
        path, limit: 16_384, widest: isCredential ? 0o440 : 0o600)
      while let last = bytes.last, last == 0x0a || last == 0x0d || last == 0x20 {
        bytes.removeLast()
      }
      guard !bytes.isEmpty else { throw FileError(.missing, path: path) }
      return Secret(wiping: bytes)
    } catch {
      throw CommandError("\(option): \(error.description)", hint: error.hint)
    }
  }
}

/// Options and variables first, then the settings file, in one form.
private struct SettingsReader {
  let call: Invocation
  let conf: AgentConf

  func one<Value>(
    _ input: Input<Value?>, _ kind: ValueKind<Value>
  ) throws(CommandError) -> Value? {
    if let value = call[input] { return value }
    return try fromConf(input.specification.name, kind).last
  }

  func list<Value>(
    _ input: Input<[Value]>, _ kind: ValueKind<Value>
  ) throws(CommandError) -> [Value] {
    let given = call[input]
    return given.isEmpty ? try fromConf(input.specification.name, kind) : given
  }

  private func fromConf<Value>(
    _ name: String, _ kind: ValueKind<Value>
  ) throws(CommandError) -> [Value] {
    var values: [Value] = []
    for text in conf.values[name] ?? [] {
      do throws(ValueProblem) {
        values.append(try kind.value(of: text))
      } catch {
        throw .usage("\(conf.path): \(name) \"\(text)\" \(error.problem)", hint: error.hint)
      }
    }
    return values
  }
}

private func isFile(_ path: String) -> Bool {
  do throws(FileError) {
    return try PrivateFile.check(path, widest: 0o7777)
  } catch {
    // A symbolic link, or one that may not be read: say so when it is read.
    switch error.kind {
    case .missing, .notADirectory, .system: return false
    default: return true
    }
  }
}

private func credential(_ name: String, _ environment: Environment) -> String? {
  guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
  let path = "\(folder)/\(name)"
  return isFile(path) ? path : nil
}

private func defaultState(_ environment: Environment) throws(CommandError) -> String {
  // systemd gives several folders with colons between them; the first one is ours.
  if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first {
    return String(given)
  }
  if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") { return "\(base)/regent/agent" }
  let home = try? environment["HOME"] ?? Accounts.user(id: Accounts.effectiveUser)?.home
  guard let home, home.hasPrefix("/") else {
    throw CommandError(
      "there is no place for the tokens: this user has no home directory", hint: "give --state DIR")
  }
  return "\(home)/.local/state/regent/agent"
}
