import Administration
import CommandKit
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import RegentPlatform

/// `regentctl setup`.
enum SetupVerb {
  static let command = verb(
    "setup", "ask for what a new service needs, and put it there",
    details: """
      Asks at a terminal for what no option says; elsewhere it takes the usual answers. What is there already stays: every \
      step can be done again. Settings go into the service's environment file, of which the difference is shown, and the \
      unit is restarted; that is root's to do. With --announce on the service says on the local network where it is, so that \
      regent setup finds it there; nobody says so by itself. Then come the first requestor, provider and account, a rule, a first \
      backup, what doctor says, and a code for the first box, as regentctl requestor invite makes it. Without a terminal \
      and without --invite a requestor that has no key pair gets one, which is shown this once.

      With --json the answer is one document: a member for each step that something was done in, and what doctor says.
      """,
    inputs: [
      publicURL, proxy, certificate, certificateKey, listen, requestor, provider, account, allow, invite,
      announce, settings, backups,
    ],
    rules: [.atMostOne([proxy, certificate]), .together([certificate, certificateKey])],
    example: "setup --public-url https://tv.example.org --proxy --requestor acme --provider cable"
  ) { call, admin in
    let report = SetupReport(call)
    let isWell: Bool
    do {
      isWell = try await perform(report, admin)
    } catch {
      report.end()
      throw error
    }
    report.end()
    if !isWell { throw QuietExit(.failed) }
  }

  /// - Returns: whether doctor finds nothing bad.
  private static func perform(_ report: SetupReport, _ admin: AdminClient) async throws -> Bool {
    let call = report.call
    try await address(report, admin)
    if let isOn = call[announce] { try await Announcing.set(isOn, report, admin) }
    let records = FirstRecords(report, admin)
    let requestor = try await records.addRequestor(call[requestor])
    let provider = try await records.addProvider(call[provider], for: requestor)
    try await records.addRule(call[allow], at: provider)
    try await records.addAccount(call[account], at: provider)
    let box = try await FirstBox(wantsCode: call[invite], for: requestor, call, admin)
    if box == .key { try await records.issueKey(to: requestor) }
    try await backUp(report, admin)
    // Made before doctor looks and shown last: it is what somebody goes to the box with.
    let invitation = box == .code ? try await InvitationNoun.first(of: requestor, admin) : nil
    let findings = await UpkeepVerbs.findings(call, admin)
    report.add("doctor", .array(findings.map(\.json)), lines: findings.flatMap(UpkeepVerbs.lines))
    if let invitation {
      report.add("invitation", invitation.json, lines: InvitationNoun.lines(of: invitation))
      InvitationNoun.draw(invitation, call)
    }
    return !findings.contains { $0.status == .bad }
  }

  private static let publicURL = Input.option(
    "public-url", ValueKind<AbsoluteURL>.webAddress, "the address that phones open")
  private static let proxy = Input.flag(
    "proxy", "a proxy on this machine ends TLS: see the examples for nginx, haproxy and Caddy")
  private static let certificate = Input.option(
    "certificate", ValueKind<String>.file, "the service ends TLS itself, with this chain")
  private static let certificateKey = Input.option(
    "certificate-key", ValueKind<String>.file, "and this key")
  private static let listen = Input.option(
    "listen", ValueKind<String>.text("ADDRESS"), "what the service listens on, if not what follows from the rest")
  private static let requestor = Input.option(
    "requestor", identifier("ID", Names.Requestor.self), "whose app runs on the boxes; tv when nobody says")
  private static let provider = Input.option(
    "provider", identifier("ID", Names.Provider.self), "whom viewers sign in with; home when nobody says")
  private static let account = Input.option(
    "account", identifier("NAME", Names.Account.self),
    "the first viewer; the password comes from the terminal or from standard input")
  private static let allow = Input.option(
    "allow", ValueKind<String>.text("PATTERN"), "what may be watched; everything when nobody says")
  private static let invite = Input.flag("invite", "make a code for the first box, and no key pair to write down")
  private static let announce = Input.option(
    "announce", ValueKind<Bool>.onOff,
    "whether the service says on the local network where it is; off until somebody says on")
  private static let settings = Input.option(
    "settings", .file, default: "/etc/regent/regentd.env", "the service's environment file")
  private static let backups = Input.option(
    "backups", .folder, default: BackupFolder.usual, "where the first backup goes")

  private static func backUp(_ report: SetupReport, _ admin: AdminClient) async throws {
    let call = report.call
    let known = try await admin.doctor().first { $0.check == "backup" }
    guard let known, known.status != .good else { return }
    do {
      let copy = try await UpkeepVerbs.copy(into: BackupFolder(call[backups]).nextPath, call, admin)
      report.add("backup", .string(copy.path), lines: ["backup: \(copy.path)"])
    } catch let error as FileError {
      call.console.note("no backup in \(call[backups]): \(error.description); give --backups FOLDER")
    }
  }

  // MARK: - The address

  private static func address(_ report: SetupReport, _ admin: AdminClient) async throws {
    let call = report.call
    let current = try await admin.service().publicURL
    guard call[publicURL] != nil || call.canAsk else {
      if call[proxy] || call[certificate] != nil || call[listen] != nil {
        throw CommandError.usage("--public-url is missing", hint: "give the address that phones open")
      }
      return
    }
    let url = try call[publicURL] ?? askURL(current, call)
    guard url.host.description != "lan-address" else {
      throw CommandError.usage(
        "LAN-ADDRESS stands for an address of this machine", hint: "write one that this shows: hostname -I")
    }
    // Nobody changed anything: what is set by hand stays as it is.
    guard call[publicURL] != nil || url.description != current else { return }
    let address = ServiceAddress(
      publicURL: url, encryption: try encryption(of: url, call), listen: call[listen])
    try write(address, report)
  }

  private static func askURL(_ current: String?, _ call: Invocation) throws -> AbsoluteURL {
    let text = try Prompt.line(
      "address that phones open, such as http://LAN-ADDRESS:8787 or https://tv.example.org", usual: current,
      orGive: "--public-url", call)
    guard let url = try? AbsoluteURL(parsing: text), url.scheme == "https" || url.scheme == "http" else {
      // Somebody at home has the numbers of this machine, and no certificate for them.
      let isNumbers = text.utf8.first.map { (0x30...0x39).contains($0) || $0 == 0x5B } ?? false
      throw CommandError.usage(
        "\(text) is not an address of the web",
        hint: "write it as \(isNumbers ? "http://\(text)" : "https://tv.example.org")")
    }
    return url
  }

  private static func encryption(
    of url: AbsoluteURL, _ call: Invocation
  ) throws -> ServiceAddress.Encryption {
    guard url.scheme == "https" else {
      guard !call[proxy], call[certificate] == nil else {
        throw CommandError.usage(
          "\(url) is not encrypted",
          hint: "write --public-url https://\(url.host), or leave the proxy or certificate out")
      }
      return .none
    }
    if let file = call[certificate], let key = call[certificateKey] { return .certificate(file: file, key: key) }
    if call[proxy] { return .proxy }
    guard call.canAsk else {
      // Nothing speaks TLS at the very port that is the service's own, and hardly at bare numbers.
      let isNumbers = if case .address = url.host { true } else { false }
      guard !isNumbers, url.effectivePort != 8787 else {
        throw CommandError.usage(
          "nobody ends TLS at \(url)",
          hint: "give --proxy or --certificate and --certificate-key, or at home write --public-url "
            + url.description.replacing("https:", with: "http:"))
      }
      return .proxy
    }
    let word = try Prompt.line(
      "file of the certificate chain, or proxy when one in front has it", usual: "proxy", orGive: "--proxy", call)
    guard word != "proxy" else { return .proxy }
    return .certificate(
      file: word,
      key: try Prompt.line("file of its key", usual: nil, orGive: "--certificate-key", call))
  }

  /// Changes the settings file and has the service read it; one that does not start with it gets the old one back.
  private static func write(_ address: ServiceAddress, _ report: SetupReport) throws {
    let call = report.call
    let path = call[settings]
    let old: [UInt8]
    do throws(FileError) {
      old = try DurableFile.read(path, limit: 1 << 20, widest: nil)
    } catch {
      throw CommandError(
        "the settings in \(path) cannot be changed: \(error.description)",
        hint: "as root type: regentctl setup, or start the service with: regentd serve "
          + address.settings.compactMap { name, value in value.map { "\(option(name)) '\($0)'" } }.joined(
            separator: " "))
    }
    var file = EnvironmentFile(String(decoding: old, as: UTF8.self))
    for (name, value) in address.settings { file.set(name, value) }
    guard !file.changes.isEmpty else { return }
    report.add(
      "settings", .array(file.changes.map { .string($0.new) }),
      lines: ["\(path):"] + file.changes.flatMap { ($0.old.map { ["  - \($0)"] } ?? []) + ["  + \($0.new)"] })
    call.console.flush()
    try DurableFile.replace(Array(file.text.utf8), of: path)
    guard path == settings.specification.defaultText, NightlyBackup.hasSystemd else {
      call.console.note("restart the service with these settings; then type regentctl setup again")
      return
    }
    guard try ChildProgram.run("systemctl", ["restart", "regentd"]) != 0 else { return }
    try DurableFile.replace(old, of: path)
    _ = try ChildProgram.run("systemctl", ["restart", "regentd"])
    throw CommandError(
      "the service does not start with these settings; the old ones are back",
      hint: "see why: journalctl -u regentd -n 20")
  }

  /// `REGENT_PUBLIC_URL` as it is typed.
  private static func option(_ variable: String) -> String {
    "--" + variable.dropFirst("REGENT_".count).lowercased().replacing("_", with: "-")
  }
}
