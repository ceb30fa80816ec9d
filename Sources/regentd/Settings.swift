import CommandKit
import RegentHTTPCodec
import HTTPServer
import PairingService
import PairingStore
import PairingStorePostgreSQL
import PostgreSQL
import RegentPairing
import RegentPlatform

/// The settings of `regentd serve`, checked against this machine.
struct ServiceSettings: Sendable {
  let listen: [ListenAddress]
  /// The public URL; nil if it is derived from the listening address, whose port may not be known yet.
  let publicURL: AbsoluteURL?
  let tls: TLSFiles?
  let metricsListen: ListenAddress?
  let proxies: TrustedProxies
  let paths: ServicePaths
  /// The name of this node.
  let node: NodeID
  /// Whether an option (`--node`) set the name of this node.
  let isNodeNamed: Bool
  let wakeups: Wakeups
  let log: LogFormat
  let limits: ServiceLimits
  let auditRetention: AuditRetention
  let engine: ServerConfiguration
  /// Whether the number of connections was set by an option.
  let choseConnections: Bool
}

/// The paths of the service's files.
///
/// Missing files are created when they are first needed, readable by this user only.
struct ServicePaths: Sendable, Equatable {
  /// The database file; empty if the database is on a server.
  var database: String
  /// The database server, if the database is on one.
  let server: ConnectionSettings?
  /// The folders in which a move may have left a marker file, if the database is on a server.
  let stateFolders: [String]
  let adminSocket: String
  /// The groups that may use the admin socket, besides root and this user.
  let adminGroups: [AdminGroup]
  let masterKey: String
  /// The widest mode that the file of the master key may have.
  let masterKeyMode: UInt32
  /// The folder with the templates, styles and scripts of the phone's pages.
  let web: String
}

/// A limit of requests per second.
enum RequestRate: Sendable, Equatable, CustomStringConvertible {
  case unlimited
  case perSecond(Int)

  var description: String {
    switch self {
    case .unlimited: "off"
    case .perSecond(let number): String(number)
    }
  }
}

/// A peer whose forwarding headers are trusted.
enum TrustedPeer: Sendable, Equatable {
  case network(IPNetwork)
  /// Every peer that can open the Unix socket of `--listen`; the modes of its file and folder decide who can.
  case localSocket

  var network: IPNetwork? { if case .network(let network) = self { network } else { nil } }
}

extension ValueKind where Value == TrustedPeer {
  /// The type of an option that takes a network, or `unix`.
  static var trustedPeer: ValueKind {
    ValueKind("CIDR|unix", show: { $0.network?.description ?? "unix" }) { text throws(ValueProblem) in
      text == "unix" ? .localSocket : .network(try ValueKind<IPNetwork>.network.value(of: text))
    }
  }
}

extension ServiceSettings {
  /// Reads the options and checks every file and folder that they name.
  ///
  /// Creates nothing if a setting is wrong.
  init(_ call: Invocation, makesFolder: Bool = true) throws {
    listen = call[ServeCommand.listen]
    publicURL = call[ServeCommand.publicURL]
    metricsListen = call[ServeCommand.metricsListen]
    log = call[ServeCommand.log]
    limits = ServiceLimits(call)
    auditRetention = AuditRetention(age: .seconds(86_400 * Int64(call[ServeCommand.auditDays])))
    proxies = TrustedProxies(
      call[ServeCommand.trustProxy].compactMap(\.network),
      trustsLocalSocket: call[ServeCommand.trustProxy].contains { $0.network == nil })
    engine = ServerConfiguration(call, proxies: proxies)
    choseConnections = call[ServeCommand.connections] != nil
    // The command's rules guarantee that the user gave both options or none of them.
    if let certificate = call[ServeCommand.certificate], let key = call[ServeCommand.key] {
      tls = TLSFiles(certificate: certificate, key: key)
    } else {
      tls = nil
    }
    try checkAddresses(listen, metricsListen)
    try checkPublicURL(publicURL, listen, isEncrypted: tls != nil)
    try tls?.check()
    node = try nodeName(call)
    isNodeNamed = call[ServeCommand.node] != nil
    wakeups = try Self.wakeups(call)
    paths = try ServicePaths(call, makesFolder: makesFolder)
  }
}

/// The name of this node: the given one, or the host name.
private func nodeName(_ call: Invocation) throws(CommandError) -> NodeID {
  if let given = call[ServeCommand.node] { return given }
  // The node's name is only the part of the host name before the first dot.
  let name = machineName()?.prefix { $0 != "." }
  guard let name, let node = NodeID(String(name)) else {
    throw CommandError(
      "this machine's host name is not a valid node name", hint: "choose one: regentd serve --node NAME")
  }
  return node
}

extension ServiceSettings {
  fileprivate static func wakeups(_ call: Invocation) throws(CommandError) -> Wakeups {
    guard let wakeups = call[ServeCommand.wakeups] else { return .bell }
    guard let database = call[ServeCommand.database], ServicePaths.isServer(database) else {
      throw .usage(
        "--wakeups works only with a database on a server", hint: "add --database postgresql://…, or remove --wakeups")
    }
    return wakeups
  }
}

extension ServiceLimits {
  fileprivate init(_ call: Invocation) {
    self.init()
    device = RateLimit(
      perSecond: call[ServeCommand.deviceRate], burst: call[ServeCommand.deviceBurst])
    if case .perSecond(let number) = call[ServeCommand.sourceRate] {
      // The burst has the requests of five seconds, because one page loads several files at once.
      source = RateLimit(perSecond: number, burst: number * 5)
    }
    let newcomerRate = call[ServeCommand.newcomerRate]
    newcomers = RateLimit(perSecond: newcomerRate, burst: newcomerRate * 100)
    let permitRate = call[ServeCommand.permitRate]
    permits = RateLimit(perSecond: permitRate, burst: permitRate * 300)
    signInsOfAccount = call[ServeCommand.signInsPerAccount]
    if case .perSecond(let number) = call[ServeCommand.codeRate] {
      newCodes = RateLimit(perSecond: number, burst: number * 100)
    }
    wrongCodes = FailureLimit(
      count: call[ServeCommand.wrongCodes], span: call[ServeCommand.wrongCodesWindow])
    allWrongCodes = FailureLimit(count: call[ServeCommand.wrongCodesTotal], span: .seconds(60))
    liveCodes = call[ServeCommand.liveCodes]
  }
}

extension ServerConfiguration {
  fileprivate init(_ call: Invocation, proxies: TrustedProxies) {
    self.init()
    if let number = call[ServeCommand.loops] { loops = number }
    bodyBytes = call[ServeCommand.requestSize]
    if let number = call[ServeCommand.connections] { connections = number }
    unprovenConnectionsPerSource = call[ServeCommand.connectionsPerSource]
    countsSource = { !proxies.trusts($0) }
    deadlines.header = call[ServeCommand.headerDeadline]
    deadlines.body = call[ServeCommand.bodyDeadline]
    deadlines.idle = call[ServeCommand.idleDeadline]
  }
}

private func checkAddresses(_ listen: [ListenAddress], _ metrics: ListenAddress?) throws {
  let fixed = (listen + [metrics].compactMap(\.self)).filter { !$0.picksPort }
  for (index, address) in fixed.enumerated() where fixed[..<index].contains(address) {
    throw CommandError.usage(
      "\(address) is given twice",
      hint: "use a different address for each --listen and --metrics-listen")
  }
}

private func checkPublicURL(
  _ url: AbsoluteURL?, _ listen: [ListenAddress], isEncrypted: Bool
) throws {
  guard let url else {
    let misspelt = VariableNames.remarks(about: ProcessEnvironment.all().keys)
      .first { $0.hint.contains("REGENT_PUBLIC_URL") }
    // Browsers cannot open "http://0.0.0.0", which stands for every address.
    guard listen[0].isOpenable else {
      throw CommandError.usage(
        "--public-url is missing, and phones cannot open \(listen[0])",
        hint: misspelt.map { "\($0.message); \($0.hint)" }
          ?? "add --public-url http://NAME-OF-THIS-MACHINE:8787, or with https")
    }
    return
  }
  guard url.query == nil, url.fragment == nil else {
    throw CommandError.usage(
      "--public-url \"\(url)\" has a query or a fragment", hint: "remove the part after ? or #")
  }
  guard url.path.isPlainPath else {
    throw CommandError.usage(
      "--public-url \"\(url)\" has a path that browsers or proxies could change",
      hint: "use only letters, digits, - . _ and ~ between slashes, such as https://\(url.host)/tv")
  }
  if url.scheme == "http", isEncrypted {
    throw CommandError.usage(
      "--public-url has http, but the service uses TLS (--tls-certificate)",
      hint: "use --public-url https://\(url.host)")
  }
}

extension String {
  /// Whether each step of the path has only unreserved characters, so that it has one spelling; a final slash is
  /// allowed.
  fileprivate var isPlainPath: Bool {
    let steps = split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    return steps.enumerated().allSatisfy { place, step in
      if step.isEmpty { return place == steps.count - 1 }
      return step != "." && step != ".."
        && step.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
          default: false
          }
        }
    }
  }
}

extension TLSFiles {
  /// Rejects paths that are not files, and a key that other users can read.
  ///
  /// Symbolic links are allowed, because certificate tools use links to the newest file.
  func check() throws {
    try naming("--tls-certificate") { () throws(FileError) in
      try PrivateFile.checkTarget(of: certificate, widest: 0o666)
    }
    // A group may be able to read the key, because certificate tools share it that way.
    try naming("--tls-key") { () throws(FileError) in
      try PrivateFile.checkTarget(of: key, widest: 0o640)
    }
  }
}

extension ListenAddress {
  /// Whether the operating system chooses the port, because the address has port 0.
  fileprivate var picksPort: Bool {
    if case .network(_, 0) = self { true } else { false }
  }

  /// Whether a phone or a browser can open the address as it is written.
  fileprivate var isOpenable: Bool {
    if case .network(let address, _) = self { !address.isUnspecified } else { false }
  }
}
