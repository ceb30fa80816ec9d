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
      unit is restarted; that is root's to do. Where another program has the service's port, it says which one, and --listen \
      or an answer leads the service elsewhere. With --announce on the service says on the local network where it is, so that \
      regent setup finds it there; nobody says so by itself. Then come the first requestor, provider and account, a rule, a first \
      backup, what doctor says, and a code for the first box, as regentctl requestor invite makes it. Without a terminal \
      and without --invite a requestor that has no key pair gets one, which is shown this once. The end of the input at a \
      question ends it there; two at once are refused.

      With --json the answer is one document: a member for each step that something was done in, and what doctor says.
      """,
    inputs: [
      publicURL, elsewhere, proxy, certificate, certificateKey, listen, requestor, requestorName, provider, providerName, account, allow,
      invite,
      announce, settings, backups,
    ],
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

  /// - Returns: whether doctor finds nothing bad.
  private static func perform(_ report: SetupReport, _ admin: AdminClient) async throws -> Bool {
    let call = report.call
    try await AddressStep(report, admin).perform()
    if let isOn = call[announce] { try await Announcing.set(isOn, report, admin) }
    let records = FirstRecords(report, admin)
    let requestor = try await records.addRequestor(call[requestor], called: call[requestorName])
    let provider = try await records.addProvider(call[provider], called: call[providerName], for: requestor)
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

  /// Addresses with more make QR codes that no phone reads from a screen.
  static let longestAddress = 255

  private static let phoneAddress = ValueKind<AbsoluteURL>("URL", show: { $0.description }) {
    text throws(ValueProblem) in
    let url = try ValueKind<AbsoluteURL>.webAddress.value(of: text)
    if let objection = problem(of: url) { throw objection }
    return url
  }

  /// What is wrong with an address for phones that is one of the web.
  static func problem(of url: AbsoluteURL) -> ValueProblem? {
    guard url.description.utf8.count > longestAddress else { return nil }
    return ValueProblem("is too long for a code on a screen", hint: "take one of at most \(longestAddress) bytes")
  }

  static let publicURL = Input.option(
    "public-url", phoneAddress, "the address that phones open")
  static let proxy = Input.flag(
    "proxy", "a proxy on this machine ends TLS: see the examples for nginx, haproxy and Caddy")
  static let certificate = Input.option(
    "certificate", ValueKind<String>.file, "the service ends TLS itself, with this chain")
  static let certificateKey = Input.option(
    "certificate-key", ValueKind<String>.file, "and this key")
  static let listen = Input.option(
    "listen", ListenPlace.kind, "what the service listens on, if not what follows from the rest")
  static let elsewhere = Input.flag(
    "elsewhere", "the public address is another machine's, which passes on to this one")
  private static let requestor = Input.option(
    "requestor", identifier("ID", Names.Requestor.self), "whose app runs on the boxes; tv when nobody says")
  private static let provider = Input.option(
    "provider", identifier("ID", Names.Provider.self), "whom viewers sign in with; home when nobody says")
  private static let requestorName = Input.option(
    "requestor-name", .text("NAME"), "the requestor's name on phones and screens (default: its id)")
  private static let providerName = Input.option(
    "provider-name", .text("NAME"), "the provider's name on phones (default: its id)")
  private static let account = Input.option(
    "account", identifier("NAME", Names.Account.self),
    "the first viewer; the password comes from the terminal or from standard input")
  private static let allow = Input.option(
    "allow", ValueKind<String>.text("PATTERN"), "what may be watched; everything when nobody says")
  private static let invite = Input.flag("invite", "make a code for the first box, and no key pair to write down")
  private static let announce = Input.option(
    "announce", ValueKind<Bool>.onOff,
    "whether the service says on the local network where it is; off until somebody says on")
  static let settings = Input.option(
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
}
