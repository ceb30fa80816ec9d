import Administration
import CommandKit
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import RegentPlatform

/// The command `regentctl setup`, which configures a new service and adds its first records.
enum SetupVerb {
  static let command = verb(
    "setup", "configure a new service and its first records",
    details: """
      Asks at the terminal for everything that no option gives; without a terminal it uses the defaults. It never \
      changes records that exist, so you can run it again. Only one setup may run at a time; a second one exits with 1.

      First it writes the address and the TLS settings into the service's settings file, prints the lines that it \
      changed, and restarts the unit (needs root). If another program uses the port, it names that program and asks \
      for another port. Then it adds a requestor, a provider, a rule and an account, makes a first backup and prints \
      what doctor finds.

      At the end it connects the first box: at a terminal it asks how, with --invite it creates an enrolment code. \
      Without a terminal and without --invite, it creates a key pair for a requestor that has none, and prints it; the \
      secret is not shown again.

      A new service is not announced on the local network; setup without --announce changes nothing about that.

      Only root and the members of one group may use regentctl. --desk-group, --operator-group and --viewer-group give \
      the members of other groups smaller roles (configure.md).

      With --json it prints one object: a member for each step that changed something, and "doctor" with the findings.
      """,
    inputs: [
      publicURL, elsewhere, proxy, certificate, certificateKey, listen, requestor, requestorName, provider,
      providerName, account, allow, invite, announce,
    ] + RoleGroups.inputs + [settings, backups],
    rules: [.atMostOne([proxy, certificate]), .together([certificate, certificateKey])],
    example: "setup --public-url https://tv.example.org --proxy --requestor acme --provider cable"
  ) { call, admin in
    let report = SetupReport(call)
    let isWell: Bool
    do {
      let lock = try SettingsChange.lock(call[settings])
      isWell = try await perform(report, admin)
      if let lock { lock.release() }
    } catch {
      report.end()
      throw error
    }
    report.end()
    if !isWell { throw QuietExit(.failed) }
  }

  /// Runs the steps of setup.
  ///
  /// - Returns: whether doctor found nothing bad.
  private static func perform(_ report: SetupReport, _ admin: AdminClient) async throws -> Bool {
    let call = report.call
    try await AddressStep(report, admin).perform()
    try RoleGroups.set(report)
    if let isOn = call[announce] { try await Announcing.set(isOn, report, admin) }
    let records = FirstRecords(report, admin)
    let requestor = try await records.addRequestor(call[requestor], called: call[requestorName])
    let (provider, isNew) = try await records.addProvider(
      call[provider], called: call[providerName], for: requestor)
    try await records.addRule(call[allow], at: provider, isNew: isNew)
    try await records.addAccount(call[account], at: provider)
    let box = try await FirstBox(wantsCode: call[invite], for: requestor, call, admin)
    if box == .key { try await records.issueKey(to: requestor) }
    try await backUp(report, admin)
    // The invitation is created before doctor runs, and printed last, because the operator needs it at the box.
    let invitation = box == .code ? try await InvitationNoun.first(of: requestor, admin) : nil
    let findings = await UpkeepVerbs.findings(call, admin)
    report.add("doctor", .array(findings.map(\.json)), lines: findings.flatMap(UpkeepVerbs.lines))
    RoleGroups.tellNextStep(report)
    if let invitation {
      report.add("invitation", invitation.json, lines: InvitationNoun.lines(of: invitation))
      InvitationNoun.draw(invitation, call)
    }
    return !findings.contains { $0.status == .bad }
  }

  /// The maximum length of a public address.
  ///
  /// A longer one makes QR codes that phones cannot read from a screen.
  static let longestAddress = 255

  private static let phoneAddress = ValueKind<AbsoluteURL>("URL", show: { $0.description }) {
    text throws(ValueProblem) in
    let url = try ValueKind<AbsoluteURL>.webAddress.value(of: text)
    if let objection = problem(of: url) { throw objection }
    return url
  }

  /// The problem with a web address as the public address; nil if there is none.
  static func problem(of url: AbsoluteURL) -> ValueProblem? {
    guard url.description.utf8.count > longestAddress else { return nil }
    return ValueProblem(
      "is too long for a QR code on a screen", hint: "use an address of at most \(longestAddress) bytes")
  }

  static let publicURL = Input.option(
    "public-url", phoneAddress, "the address that phones open")
  static let proxy = Input.flag(
    "proxy", "a proxy on this machine handles TLS (nginx, haproxy, Caddy)")
  static let certificate = Input.option(
    "certificate", ValueKind<String>.file, "a file with the certificate chain, if the service itself uses TLS")
  static let certificateKey = Input.option(
    "certificate-key", ValueKind<String>.file, "a file with the private key of --certificate")
  static let listen = Input.option(
    "listen", ListenPlace.kind,
    "the address and port to listen on (default: the port of --public-url on all addresses; with --proxy a Unix socket)"
  )
  static let elsewhere = Input.flag(
    "elsewhere", "a proxy on another machine has the public address and forwards to this one")
  private static let requestor = Input.option(
    "requestor", identifier("ID", Names.Requestor.self), "the id of the first requestor (default: tv)")
  private static let provider = Input.option(
    "provider", identifier("ID", Names.Provider.self), "the id of the first provider (default: home)")
  private static let requestorName = Input.option(
    "requestor-name", .text("NAME"), "the requestor's name on phones and screens (default: its id)")
  private static let providerName = Input.option(
    "provider-name", .text("NAME"), "the provider's name on phones (default: its id)")
  private static let account = Input.option(
    "account", identifier("NAME", Names.Account.self),
    "the name of the first viewer's account; setup asks for its password, or reads it from standard input "
      + "(default: asked at the terminal; without a terminal no account is added)")
  private static let allow = Input.option(
    "allow", ValueKind<String>.text("PATTERN"),
    "the titles that all viewers may watch; * is all titles (default: asked at the terminal; without a terminal *, if "
      + "setup adds the provider)")
  private static let invite = Input.flag(
    "invite", "create an enrolment code for the first box, also without a terminal")
  private static let announce = Input.option(
    "announce", ValueKind<Bool>.onOff,
    "whether to announce the service on the local network (default: no change; at first off)")
  static let settings = Input.option(
    "settings", .file, default: "/etc/regent/regentd.env", "the service's settings file")
  private static let backups = Input.option(
    "backups", .folder, default: BackupFolder.usual, "the folder for the first backup")

  private static func backUp(_ report: SetupReport, _ admin: AdminClient) async throws {
    let call = report.call
    let known = try await admin.doctor().first { $0.check == "backup" }
    guard let known, known.status != .good else { return }
    do {
      let copy = try await UpkeepVerbs.copy(into: BackupFolder(call[backups]).nextPath, call, admin)
      report.add("backup", .string(copy.path), lines: ["backup: \(copy.path)"])
    } catch let error as FileError {
      call.console.note("warning: no backup was made in \(call[backups]): \(error.description); add --backups FOLDER")
    }
  }
}
