import CommandKit
import RegentHTTPCodec
import HTTPServer
import PairingStorePostgreSQL
import RegentPairing
import RegentPlatform

/// The options of `regentd serve`, each also `REGENT_…` in the environment.
enum ServeCommand {
  static let listen = Input.repeated(
    "listen", .listenAddress, default: [.network(.loopback, port: 8787)],
    "where to listen; port 0 picks a free one, *:PORT is every address")
  static let publicURL = Input.option(
    "public-url", .webAddress,
    "the address that phones open; by default the first address listened on")
  static let database = Input.option(
    "database", .file,
    "the database: a file, or postgresql://USER@HOST/DATABASE; by default regent.db in the data directory")
  static let databasePasswordFile = Input.option(
    "database-password-file", .file,
    "a private file with the password for the database server; else the credential database-password, else ~/.pgpass")
  static let node = Input.option(
    "node", .node, "what other services on the same database call this one; by default the name of the machine")
  static let wakeups = Input.option(
    "wakeups", ValueKind<Wakeups>.cases,
    "how it hears what they write: bell (LISTEN), or poll where there is no LISTEN; by default bell")
  static let adminSocket = Input.option(
    "admin-socket", .file, "the socket for regentctl; by default admin.sock in the data directory")
  static let adminGroup = Input.option(
    "admin-group", .text("GROUP"), "a group whose members may use regentctl, too")
  static let metricsListen = Input.option(
    "metrics-listen", .listenAddress, "where to offer metrics for Prometheus; by default nowhere")
  static let masterKey = Input.option(
    "master-key", .file,
    "the key that seals all others; by default master-key in the data directory")
  static let web = Input.option(
    "web", .folder,
    "templates, styles and scripts of the phone's pages; by default share/regent/web beside the program's bin, else ./web"
  )
  static let log = Input.option(
    "log", ValueKind<LogFormat>.cases, default: .text, "how log lines on standard error look")

  static let certificate = Input.option(
    "tls-certificate", .file, "a certificate with its chain, in PEM")
  static let key = Input.option("tls-key", .file, "the certificate's private key, in PEM")
  static let trustProxy = Input.repeated(
    "trust-proxy", .trustedPeer,
    "proxies whose word on a client's address counts: networks, or unix for the Unix sockets of --listen")

  static let deviceRate = Input.option(
    "device-rate", .integer(1...100_000), default: 20, "requests a second from one device")
  static let deviceBurst = Input.option(
    "device-burst", .integer(1...1_000_000), default: 100,
    "requests that one device may make at once")
  static let sourceRate = Input.option(
    "source-rate", .rate, default: .unlimited, "requests a second from one network address")
  static let newcomerRate = Input.option(
    "newcomer-rate", .integer(1...100_000), default: 1,
    "new guests and apps a second from one network address, for each requestor; a hundred times as many at once"
  )
  static let permitRate = Input.option(
    "permit-rate", .integer(1...100_000), default: 1,
    "new permits a second of one account; 300 times as many at once")
  static let signInsPerAccount = Input.option(
    "sign-ins-per-account", .integer(1...1_000_000), default: 100,
    "devices that one account keeps signed in; beyond that the one unused for longest is signed out")
  static let codeRate = Input.option(
    "code-rate", .rate, default: .unlimited,
    "new codes a second from one network address, for each requestor; a hundred times as many at once"
  )
  static let wrongCodes = Input.option(
    "wrong-codes", .integer(1...1_000_000), default: 5,
    "wrong codes from one network address, and of one account, in the window")
  static let wrongCodesWindow = Input.option(
    "wrong-codes-window", .duration(.seconds(1)...(.seconds(86_400))), default: .seconds(600),
    "how long a wrong code counts")
  static let wrongCodesTotal = Input.option(
    "wrong-codes-total", .integer(1...1_000_000), default: 60, "wrong codes a minute from everybody"
  )
  static let liveCodes = Input.option(
    "live-codes", .integer(1...100_000_000), default: 100_000,
    "codes that wait for a phone at a time")
  static let auditDays = Input.option(
    "audit-days", .integer(1...36_500), default: 400,
    "how long lines of the audit log are kept; the newest 10000 always, and never more than a million")

  static let connections = Input.option(
    "connections", .integer(1...1_000_000),
    "open connections; by default 20000, or what the limit of open files allows")
  static let connectionsPerSource = Input.option(
    "connections-per-source", .integer(1...1_000_000), default: 512,
    "connections from one address that have not sent a valid request yet")
  static let requestSize = Input.option(
    "request-size", .bytes(1_024...(64 << 20)), default: 256 << 10, "the largest body of a request")
  static let headerDeadline = Input.option(
    "header-deadline", deadline, default: .seconds(10), "time for the header of a request to arrive"
  )
  static let bodyDeadline = Input.option(
    "body-deadline", deadline, default: .seconds(30), "time for the body of a request to arrive")
  static let idleDeadline = Input.option(
    "idle-deadline", deadline, default: .seconds(75), "time that an unused connection stays open")
  static let loops = Input.option(
    "loops", .integer(1...256), "threads that serve connections; by default one for each core")

  private static let deadline = ValueKind.duration(.milliseconds(100)...(.seconds(3_600)))

  /// What `regentd check` reads as well.
  static var inputs: [any InputDeclaration] {
    [
      listen, publicURL, database, databasePasswordFile, node, wakeups, adminSocket, adminGroup,
      metricsListen, masterKey, web, log,
    ]
  }
  static var sections: [InputSection] {
    [
      InputSection("encryption and proxies", [certificate, key, trustProxy]),
      InputSection(
        "limits of the service",
        [
          deviceRate, deviceBurst, sourceRate, newcomerRate, permitRate, signInsPerAccount, codeRate, wrongCodes,
          wrongCodesWindow, wrongCodesTotal, liveCodes, auditDays,
        ]),
      InputSection(
        "limits of connections",
        [
          connections, connectionsPerSource, requestSize, headerDeadline, bodyDeadline,
          idleDeadline, loops,
        ]),
    ]
  }
  static var rules: [InputRule] { [.together([certificate, key])] }

  static func command(_ held: HeldSignals) -> Command {
    Command(
      "serve", "run the service",
      details: """
        The data directory is $STATE_DIRECTORY, else $XDG_STATE_HOME/regent, else ~/.local/state/regent. What is \
        missing there is created at the first start, for this user alone. Under systemd the admin socket lies in \
        $RUNTIME_DIRECTORY, and a credential named master-key is used when there is one.

        SIGTERM ends the service within five seconds and lets running requests finish. SIGHUP reads the certificate \
        again.
        """,
      inputs: inputs, sections: sections, rules: rules, environmentPrefix: "REGENT_",
      example: "regentd serve --listen 127.0.0.1:8787 --public-url https://tv.example.org"
    ) { call in
      let settings = try ServiceSettings(call)
      try await serve(settings, call.console, held)
    }
  }
}

extension ValueKind where Value == NodeID {
  static var node: ValueKind {
    ValueKind("NAME", show: { $0.text }) { text throws(ValueProblem) in
      guard let name = NodeID(text) else {
        throw ValueProblem(
          "is not a name for a node", hint: "take letters, digits, dots, dashes and underscores of ASCII, at most 128")
      }
      return name
    }
  }
}

extension ValueKind where Value == ListenAddress {
  static var listenAddress: ValueKind {
    ValueKind("ADDRESS", show: { $0.description }) { text throws(ValueProblem) in
      guard let address = ListenAddress(text) else {
        throw ValueProblem(
          "is not an address to listen on",
          hint: "write it as 127.0.0.1:8787, [::1]:8787, *:8787 or unix:/run/regent.sock")
      }
      return address
    }
  }
}

extension ValueKind where Value == RequestRate {
  static var rate: ValueKind {
    let number = ValueKind<Int>.integer(1...1_000_000)
    return ValueKind(
      "off|N", completion: .words(["off"]), show: { $0.description },
      read: { text throws(ValueProblem) in
        if text == "off" { return .unlimited }
        do throws(ValueProblem) {
          return .perSecond(try number.value(of: text))
        } catch {
          throw ValueProblem("is neither off nor a number from 1 to 1000000")
        }
      })
  }
}
