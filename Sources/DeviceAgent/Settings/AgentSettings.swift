import AccessEnabler
import CommandKit
import RegentCryptography
import RegentHTTPClient
import RegentHTTPCodec
import RegentPlatform

/// The credentials with which this box authenticates at the service.
enum AgentCredentials: Sendable {
  case keyPair(publicKey: String, secret: Secret)
  case softwareStatement(Secret)
}

/// The settings of one command.
///
/// Options override environment variables, and those override the settings file.
struct AgentSettings: Sendable {
  let services: [AbsoluteURL]
  let requestor: String?
  let publicHost: HostName?
  let authorities: CertificateAuthorities
  let proxy: ProxyChoice
  /// Whether the service is searched on the local network when its address does not answer; `regent setup` sets it.
  let findsAgain: Bool
  /// The configured name of this box, which the phone shows.
  let name: String?
  var state: String
  /// Whether no state folder was configured, so that the default in the user's home is used.
  let usesOwnState: Bool
  let socket: String?
  /// Whether the socket was given as an option, so that no other socket may be used.
  let insistsOnSocket: Bool
  let language: Language
  /// The rules for what users other than root and the daemon's own may do.
  let allowRules: [AllowRule]
  /// The apps that may use the box's shared account (the platform account).
  let appRules: [AppRule]
  let publicKey: String?
  /// The profile of lifetimes and limits that the box asks the service for, and the visitor id for the service's
  /// reports.
  let profile: String?
  let visitor: String?
  /// The names of the options that were not set by the machine's settings file but by other means.
  let given: Set<String>
  /// Whether to wait only briefly for an unreachable service.
  ///
  /// A request that fails because of this is sent later.
  var waitsBriefly = false
  /// Credentials that were read before this process changed to a user who may not read them.
  var keptCredentials: AgentCredentials?
  private let secretFile: String?
  let statementFile: String?
  /// Whether the box is not set up: there is no settings file, and no option or variable names a service or
  /// credentials.
  let isUntouched: Bool
  private let environment: Environment
  private let confPath: String

  init(_ call: Invocation) throws(CommandError) {
    let conf = try Self.conf(call)
    let reader = SettingsReader(call: call, conf: conf)
    environment = call.environment
    confPath = conf.path
    services = try reader.list(AgentOptions.service, .webAddress)
    requestor = try reader.one(AgentOptions.requestor, .text)
    publicHost = try reader.one(AgentOptions.publicHost, .host)
    authorities = try reader.one(AgentOptions.authorities, .file).map { .file($0) } ?? .system
    proxy = try reader.one(AgentOptions.proxy, .proxy) ?? .environment
    findsAgain = try Self.findsAgain(conf)
    name = try reader.one(AgentOptions.name, .text)
    publicKey = try reader.one(AgentOptions.publicKey, .text)
    profile = try reader.one(AgentOptions.profile, .text)
    visitor = try reader.one(AgentOptions.visitor, .text)
    statementFile =
      try reader.one(AgentOptions.softwareStatement, .file)
      ?? credential("software-statement", environment)
    secretFile =
      try reader.one(AgentOptions.secretFile, .file) ?? credential("secret", environment)
      ?? (statementFile == nil ? conf.neighbour("secret") : nil)
    socket = try reader.one(AgentOptions.socket, .file)
    insistsOnSocket =
      call.source(of: AgentOptions.socket) == AgentOptions.socket.specification.label
    let chosen = try reader.one(AgentOptions.state, .folder) ?? stateOfTheUnit(environment)
    usesOwnState = chosen == nil
    state = if let chosen { chosen } else { try defaultState(environment) }
    given = Set(BoxIdentity.inputs.filter(reader.isGiven).map(\.specification.name))
    isUntouched = conf.path.isEmpty && services.isEmpty && requestor == nil && publicKey == nil && statementFile == nil
    let asked = try reader.one(AgentOptions.language, .choice("en", "it", "es", "ko"))
    let variables = call.environment
    language = Language(asked: asked) { variables[$0] }
    var allowRules: [AllowRule] = []
    for (text, place) in conf.entries["allow"] ?? [] { allowRules.append(try AllowRule(parsing: text, in: place)) }
    self.allowRules = allowRules
    appRules = try AppRule.all(conf.entries["app"] ?? [])
  }

  private static func findsAgain(_ conf: AgentConf) throws(CommandError) -> Bool {
    guard let entry = conf.entries["find-again"]?.first else { return false }
    guard ["yes", "no"].contains(entry.text) else {
      throw .usage(
        "\(entry.place): find-again is neither yes nor no", hint: "write find-again = yes or find-again = no")
    }
    return entry.text == "yes"
  }

  private static func conf(_ call: Invocation) throws(CommandError) -> AgentConf {
    if let path = call[AgentOptions.configuration] { return try AgentConf(path: path) }
    let environment = call.environment
    for place in DefaultServices.places({ environment[$0] }) where isFile(place) {
      return try AgentConf(path: place)
    }
    return AgentConf()
  }
}

extension AgentSettings {
  /// The error of a box that is not set up, with the next step as its hint.
  var notSetUp: CommandError {
    // If the packages are installed, the box belongs to the machine, and root sets it up.
    let isPackaged = SocketPlace.isThere("/usr/lib/systemd/system/regent.socket")
    let sudo = isPackaged && Accounts.effectiveUser != 0 ? "sudo " : ""
    return .usage(
      "this box is not set up yet: no service is configured",
      hint: "run \(sudo)regent setup with a code from regentctl requestor invite")
  }

  /// The URLs of the services.
  ///
  /// Throws an error with a hint how to configure one, if there is none.
  func neededServices() throws(CommandError) -> [AbsoluteURL] {
    guard !isUntouched else { throw notSetUp }
    guard !services.isEmpty else {
      throw .usage(
        "no service is configured",
        hint: "run regent setup, or add --service https://HOST, or \"service = https://HOST\" to agent.conf")
    }
    return currentServices
  }

  /// The requestor's id.
  ///
  /// Throws an error with a hint how to configure it, if there is none.
  func neededRequestor() throws(CommandError) -> String {
    guard !isUntouched else { throw notSetUp }
    guard let requestor else {
      throw .usage(
        "no requestor is configured",
        hint: "run regent setup, or add --requestor ID, or \"requestor = ID\" to agent.conf")
    }
    return requestor
  }

  /// The settings file, if it is what sets this address.
  func place(of service: AbsoluteURL) -> String? {
    guard !confPath.isEmpty, !given.contains(AgentOptions.service.specification.name) else { return nil }
    return services.contains(service) ? confPath : nil
  }

  /// Reads the box's credentials from their files.
  func credentials() throws(CommandError) -> AgentCredentials {
    if let keptCredentials { return keptCredentials }
    if let publicKey, let secretFile {
      return .keyPair(publicKey: publicKey, secret: try secret(in: secretFile, "--secret-file"))
    }
    if let statementFile {
      return .softwareStatement(try secret(in: statementFile, "--software-statement"))
    }
    guard publicKey == nil else {
      throw .usage(
        "the secret of the key pair is missing",
        hint: "put it into the file \"secret\" (mode 0600) beside agent.conf, or add --secret-file FILE; "
          + "without a copy of it, enrol the box again: sudo regent setup")
    }
    throw .usage(
      "this box has no credentials",
      hint: "run regent setup with a code, or add --public-key and --secret-file (from regentctl key issue REQUESTOR)")
  }

  /// The check that decides which addresses the screen may show.
  var addressCheck: AddressCheck { AddressCheck(services: currentServices, publicHost: publicHost) }

  /// The socket paths at which the daemon may listen for this user, in the order in which they are tried.
  var socketPlaces: [String] {
    socket.map { [$0] } ?? SocketPlace.ofAgent(below: environment["XDG_RUNTIME_DIR"])
  }

  private func secret(in path: String, _ option: String) throws(CommandError) -> Secret {
    do throws(FileError) {
      // The file of a systemd credential may have mode 0440 because of an access list. Other secret files must have
      // 0600.
      let isCredential =
        environment["CREDENTIALS_DIRECTORY"].map { path.hasPrefix("\($0)/") } ?? false
      var bytes = try DurableFile.read(
        path, limit: 16_384, widest: isCredential ? 0o640 : 0o600)
      while let last = bytes.last, last == 0x0a || last == 0x0d || last == 0x20 {
        bytes.removeLast()
      }
      if !bytes.isEmpty { return Secret(emptying: &bytes) }
    } catch {
      var hint = error.hint
      if case .system(let refusal) = error.kind, refusal.isAboutRights {
        hint =
          "\(shellQuoted(path)) belongs to another user: start the daemon, or use sudo"
      }
      throw CommandError("\(option): \(error.description)", hint: hint)
    }
    throw CommandError(
      "\(option): \(path) is empty",
      hint: "write the value that regentctl printed into this file, or issue a new one")
  }
}
