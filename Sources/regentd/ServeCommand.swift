import CommandKit
import RegentHTTPCodec
import HTTPServer
import PairingService
import PairingStorePostgreSQL
import RegentPairing
import RegentPlatform

/// The options of `regentd serve`; each is also an environment variable `REGENT_…`.
enum ServeCommand {
  static let listen = Input.repeated(
    "listen", .listenAddress, default: [.network(.loopback, port: 8787)],
    "an address to listen on; *:PORT is every address, port 0 any free port")
  static let publicURL = Input.option(
    "public-url", .webAddress,
    "the address that phones open (default: the first address of --listen)")
  static let database = Input.option(
    "database", .file,
    "the database: a file, or postgresql://USER@HOST/DATABASE (default: regent.db in the data directory)")
  static let databasePasswordFile = Input.option(
    "database-password-file", .file,
    "a file with the database password (default: the credential database-password, or ~/.pgpass)")
  static let node = Input.option(
    "node", .node, "the name of this node among those on the same database (default: the host name)")
  static let wakeups = Input.option(
    "wakeups", ValueKind<Wakeups>.cases,
    "how this node learns of other nodes' changes: bell (LISTEN) or poll (default: bell)")
  static let adminSocket = Input.option(
    "admin-socket", .file, "the socket for regentctl (default: admin.sock in the data directory)")
  static let adminGroup = Input.option(
    "admin-group", .text("GROUP"), "a group whose members may also use regentctl, with the role owner")
  static let adminOperatorGroup = Input.option(
    "admin-operator-group", .text("GROUP"),
    "a group whose members may use regentctl, but make no keys and no backups")
  static let adminDeskGroup = Input.option(
    "admin-desk-group", .text("GROUP"),
    "a group whose members may read, approve codes, set passwords of accounts and sign boxes out")
  static let adminViewerGroup = Input.option(
    "admin-viewer-group", .text("GROUP"), "a group whose members may only read, and see no secrets")
  /// The options that name a group for a role on the admin socket.
  static var adminGroups: [(AdminRole, Input<String?>)] {
    [
      (.owner, adminGroup), (.operator, adminOperatorGroup), (.desk, adminDeskGroup), (.viewer, adminViewerGroup),
    ]
  }
  static let metricsListen = Input.option(
    "metrics-listen", .listenAddress, "an address for Prometheus metrics (default: none)")
  static let masterKey = Input.option(
    "master-key", .file,
    "the file with the master key (default: master-key in the data directory)")
  static let web = Input.option(
    "web", .folder,
    "the folder with the phone's pages (default: share/regent/web beside the program's bin, or ./web)"
  )
  static let log = Input.option(
    "log", ValueKind<LogFormat>.cases, default: .text, "the format of log lines on standard error")

  static let certificate = Input.option(
    "tls-certificate", .file, "the certificate with its chain, in PEM")
  static let key = Input.option("tls-key", .file, "the certificate's private key, in PEM")
  static let trustProxy = Input.repeated(
    "trust-proxy", .trustedPeer,
    "a proxy whose X-Forwarded-For is trusted: a network, or unix for the sockets of --listen")

  static let deviceRate = Input.option(
    "device-rate", .integer(1...100_000), default: 20, "requests per second from one device")
  static let deviceBurst = Input.option(
    "device-burst", .integer(1...1_000_000), default: 100,
    "requests in a burst from one device")
  static let sourceRate = Input.option(
    "source-rate", .rate, default: .unlimited, "requests per second from one network address")
  static let newcomerRate = Input.option(
    "newcomer-rate", .integer(1...100_000), default: 1,
    "new guests and apps per second from one network address and requestor; bursts of 100 times that"
  )
  static let permitRate = Input.option(
    "permit-rate", .integer(1...100_000), default: 1,
    "new permits per second for one account; bursts of 300 times that")
  static let signInsPerAccount = Input.option(
    "sign-ins-per-account", .integer(1...1_000_000), default: 100,
    "boxes that one account may have signed in; one more signs out the least recently used")
  static let codeRate = Input.option(
    "code-rate", .rate, default: .unlimited,
    "new codes per second from one network address and requestor; bursts of 100 times that"
  )
  static let wrongCodes = Input.option(
    "wrong-codes", .integer(1...1_000_000), default: 5,
    "wrong codes allowed per network address, and per account, in the window")
  static let wrongCodesWindow = Input.option(
    "wrong-codes-window", .duration(.seconds(1)...(.seconds(86_400))), default: .seconds(600),
    "the time for which a wrong code counts")
  static let wrongCodesTotal = Input.option(
    "wrong-codes-total", .integer(1...1_000_000), default: 60, "wrong codes allowed per minute in total"
  )
  static let liveCodes = Input.option(
    "live-codes", .integer(1...100_000_000), default: 100_000,
    "codes that may wait for a phone at the same time")
  static let auditDays = Input.option(
    "audit-days", .integer(1...36_500), default: 400,
    "days to keep audit log lines; at least the newest 10000, at most a million lines")

  static let connections = Input.option(
    "connections", .integer(1...1_000_000),
    "open connections (default: 20000, or what the limit of open files allows)")
  static let connectionsPerSource = Input.option(
    "connections-per-source", .integer(1...1_000_000), default: 512,
    "connections from one address that have not yet sent a valid request")
  static let requestSize = Input.option(
    "request-size", .bytes(1_024...(64 << 20)), default: 256 << 10, "the largest request body")
  static let headerDeadline = Input.option(
    "header-deadline", deadline, default: .seconds(10), "the time in which a request's header must arrive"
  )
  static let bodyDeadline = Input.option(
    "body-deadline", deadline, default: .seconds(30), "the time in which a request's body must arrive")
  static let idleDeadline = Input.option(
    "idle-deadline", deadline, default: .seconds(75), "the time after which an idle connection is closed")
  static let loops = Input.option(
    "loops", .integer(1...256), "threads that serve connections (default: one per core)")

  private static let deadline = ValueKind.duration(.milliseconds(100)...(.seconds(3_600)))

  /// The options of `regentd serve`, which `regentd check` takes too.
  static var inputs: [any InputDeclaration] {
    [
      listen, publicURL, database, databasePasswordFile, node, wakeups, adminSocket, adminGroup,
      adminOperatorGroup, adminDeskGroup, adminViewerGroup, metricsListen, masterKey, web, log,
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
        The data directory is $STATE_DIRECTORY, or $XDG_STATE_HOME/regent, or ~/.local/state/regent. The first start \
        creates the database and the master key there, readable by this user only. Under systemd the admin socket is \
        in $RUNTIME_DIRECTORY, and the credential master-key is used if there is one.

        SIGTERM stops the service within five seconds, after running requests. SIGHUP reloads the certificate.
        """,
      inputs: inputs, sections: sections, rules: rules, environmentPrefix: "REGENT_",
      example: "regentd serve --listen 127.0.0.1:8787 --public-url https://tv.example.org"
    ) { call in
      try InstalledService.refuseSecondService(call)
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
          "is not a valid node name", hint: "use 1 to 128 ASCII letters, digits, dots, dashes or underscores")
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
          hint: "use a form such as 127.0.0.1:8787, [::1]:8787, *:8787 or unix:/run/regent.sock")
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
