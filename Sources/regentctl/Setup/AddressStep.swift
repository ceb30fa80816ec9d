import Administration
import CommandKit
import RegentHTTPCodec
import RegentPlatform

/// The first step of setup: the public address, and the address on which the service listens.
struct AddressStep {
  private let report: SetupReport
  private let admin: AdminClient
  private let settings: SettingsChange
  private var call: Invocation { report.call }

  init(_ report: SetupReport, _ admin: AdminClient) {
    self.report = report
    self.admin = admin
    settings = SettingsChange(report)
  }

  /// What is known about the service before the first question.
  private struct FoundService {
    var isRunning = true
    /// The current public address.
    var publicURL: String?
    /// The address to listen on, as the settings name it.
    var listens: ListenPlace?
  }

  func perform() async throws {
    var found = FoundService(listens: ListenPlace(settings.text?.value(of: "REGENT_LISTEN") ?? "127.0.0.1:8787"))
    do throws(AdminError) {
      found.publicURL = try await admin.service().publicURL
    } catch {
      // The service cannot run, because another program has its port: setup offers another port.
      guard error.code == .notRunning, settings.text != nil, let place = found.listens,
        let taken = place.objection(isRunning: false, ownPort: nil)
      else { throw error }
      found.isRunning = false
      if call[SetupVerb.publicURL] == nil {
        try move(from: place, taken, found)
        found.isRunning = true
        found.publicURL = try await admin.service().publicURL
        found.listens = ListenPlace(settings.text?.value(of: "REGENT_LISTEN") ?? "")
      }
    }
    try ask(found)
    try await tellBoxes(of: found.publicURL)
  }

  /// Warns that boxes keep the address with which they were set up.
  private func tellBoxes(of old: String?) async throws {
    guard let old, let before = try? AbsoluteURL(parsing: old), !before.host.isLoopback,
      let now = try? await admin.service().publicURL, now != old
    else { return }
    var boxes: Set<String> = []
    try await admin.signIns { boxes.formUnion($0.map(\.device)) }
    guard !boxes.isEmpty else { return }
    call.console.note(
      "warning: \(counted(boxes.count, "box", "boxes")) signed in with the address \(old). A box keeps the address of its "
        + "agent.conf: set there service = \(now), then run systemctl restart regent (configure.md, \"A new address\")")
  }

  /// Moves a service that could not start to another port.
  private func move(from place: ListenPlace, _ taken: String, _ found: FoundService) throws {
    let next = place.nextFree?.description
    let listen: String
    if let given = call[SetupVerb.listen] {
      listen = try free(given, found)
    } else if call.canAsk {
      call.console.note("\(taken), so the service cannot start")
      listen = try Prompt.answer(
        "another address and port for the service to listen on", usual: next, orGive: "--listen", call
      ) {
        text throws(CommandError) in try free(text, found)
      }
    } else {
      throw CommandError(
        "\(taken), so the service cannot start",
        hint:
          "choose another port: regentctl setup --listen \(next ?? "127.0.0.1:PORT"); or stop that program, then run "
          + "systemctl restart regentd")
    }
    try settings.write([("REGENT_LISTEN", listen)], isRunning: false)
  }

  private func ask(_ found: FoundService) throws {
    guard call[SetupVerb.publicURL] != nil || call.canAsk else {
      if call[SetupVerb.proxy] || call[SetupVerb.certificate] != nil {
        throw CommandError.usage("--public-url is missing", hint: "add --public-url URL, the address that phones open")
      }
      return try listenAlone(found)
    }
    let url =
      try call[SetupVerb.publicURL].map { given throws(CommandError) in try notAPlaceholder(given) } ?? askURL(found)
    // The answer is the current address, so settings made by hand stay.
    guard call[SetupVerb.publicURL] != nil || url.description != found.publicURL else { return try listenAlone(found) }
    var address = ServiceAddress(publicURL: url, encryption: try encryption(of: url), listen: call[SetupVerb.listen])
    if case .proxy = address.encryption, address.listen == nil, let text = settings.text,
      let trusted = text.value(of: "REGENT_TRUST_PROXY")
    {
      // A proxy already connects to that address, so both settings stay.
      (address.trusted, address.listen) = (trusted, text.value(of: "REGENT_LISTEN"))
    }
    if call[SetupVerb.publicURL] != nil, url.description != found.publicURL, !call[SetupVerb.elsewhere],
      let objection = LocalAddressCheck.objection(
        to: url, insisting: "add --elsewhere if a proxy on another machine has this address and forwards to this one"
      )
    {
      throw objection
    }
    if let taken = objection(to: address, found) {
      guard call.canAsk, call[SetupVerb.listen] == nil, url.scheme == "https" else { throw taken }
      call.console.note(taken.message)
      address.listen = try Prompt.answer(
        "another address and port for the service to listen on", usual: address.listening?.nextFree?.description,
        orGive: "--listen", call
      ) { text throws(CommandError) in try free(text, found) }
    }
    try settings.write(address.settings, isRunning: found.isRunning)
  }

  /// Changes only the address on which the service listens (`--listen` without a public address).
  private func listenAlone(_ found: FoundService) throws {
    guard let given = call[SetupVerb.listen], found.listens?.description != given else { return }
    let listen = try free(given, found)
    if let text = settings.text?.value(of: "REGENT_PUBLIC_URL"), let url = try? AbsoluteURL(parsing: text),
      url.scheme == "http",
      let port = ListenPlace(listen)?.port, url.effectivePort != Int(port)
    {
      throw CommandError.usage(
        "phones open \(url), but the service would listen on port \(port)",
        hint: "change the public address to the same port: --public-url http://\(url.host):\(port)")
    }
    try settings.write([("REGENT_LISTEN", listen)], isRunning: found.isRunning)
  }

  /// Returns the address if no other program listens on it; throws otherwise.
  private func free(_ listen: String, _ found: FoundService) throws(CommandError) -> String {
    do throws(ValueProblem) {
      _ = try ListenPlace.kind.value(of: listen)
    } catch {
      throw .usage("\(listen) \(error.problem)", hint: error.hint)
    }
    // The service itself validates the rest when it starts with the setting.
    guard let place = ListenPlace(listen),
      let taken = place.objection(isRunning: found.isRunning, ownPort: found.listens?.port)
    else { return listen }
    throw .usage(taken, hint: "choose another: --listen \(place.nextFree?.description ?? "ADDRESS:PORT")")
  }

  /// Why the service cannot listen on the address; nil if it can.
  private func objection(to address: ServiceAddress, _ found: FoundService) -> CommandError? {
    guard let place = address.listening,
      let taken = place.objection(isRunning: found.isRunning, ownPort: found.listens?.port)
    else { return nil }
    let next = place.nextFree
    if address.listen == nil, address.publicURL.scheme == "http" {
      // Without a proxy, phones connect to this port directly.
      let port = next.map { "\($0.port)" } ?? "PORT"
      return .usage(taken, hint: "choose another port: --public-url http://\(address.publicURL.host):\(port)")
    }
    return .usage(taken, hint: "choose another: --listen \(next?.description ?? "ADDRESS:PORT")")
  }

  private func askURL(_ found: FoundService) throws(CommandError) -> AbsoluteURL {
    var insisted: AbsoluteURL?
    return try Prompt.answer(
      "address that phones open, for example http://LAN-ADDRESS:8787 or https://tv.example.org", usual: found.publicURL,
      orGive: "--public-url", call
    ) { text throws(CommandError) in
      let url = try notAPlaceholder(try webAddress(text))
      guard url.description != found.publicURL else { return url }
      if url != insisted, !call[SetupVerb.elsewhere],
        let objection = LocalAddressCheck.objection(
          to: url,
          insisting: "type it again if a proxy on another machine has this address and forwards to this one")
      {
        insisted = url
        throw objection
      }
      if url.scheme == "http", !call[SetupVerb.proxy], call[SetupVerb.certificate] == nil,
        let taken = objection(
          to: ServiceAddress(publicURL: url, encryption: .none, listen: call[SetupVerb.listen]), found)
      {
        throw taken
      }
      return url
    }
  }

  private func webAddress(_ text: String) throws(CommandError) -> AbsoluteURL {
    guard let url = try? AbsoluteURL(parsing: text), url.scheme == "https" || url.scheme == "http" else {
      // A host of numbers is usually at home and has no certificate, so the hint proposes http.
      let isNumbers = text.utf8.first.map { (0x30...0x39).contains($0) || $0 == 0x5B } ?? false
      throw .usage(
        "\(text) is not a web address",
        hint: "type it as \(isNumbers ? "http://\(text)" : "https://tv.example.org")")
    }
    if let problem = SetupVerb.problem(of: url) { throw .usage("that address \(problem.problem)", hint: problem.hint) }
    return url
  }

  private func notAPlaceholder(_ url: AbsoluteURL) throws(CommandError) -> AbsoluteURL {
    guard url.host.description != "lan-address" else {
      throw .usage("LAN-ADDRESS is a placeholder", hint: "use an address of this machine: hostname -I lists them")
    }
    return url
  }

  private func encryption(of url: AbsoluteURL) throws -> ServiceAddress.Encryption {
    guard url.scheme == "https" else {
      guard !call[SetupVerb.proxy], call[SetupVerb.certificate] == nil else {
        throw CommandError.usage(
          "\(url) has no TLS, but you gave a proxy or a certificate",
          hint: "use --public-url https://\(url.host), or remove --proxy and --certificate")
      }
      return .none
    }
    if let file = call[SetupVerb.certificate], let key = call[SetupVerb.certificateKey] {
      return .certificate(file: file, key: key)
    }
    if call[SetupVerb.proxy] { return .proxy }
    guard call.canAsk else {
      // Without a terminal, setup assumes that a proxy has the certificate. Two kinds of URL rarely lead to a proxy, so
      // they are refused: a URL with port 8787, which is the service's own port, and one with a network address in
      // place of a host name, because few certificates are for such addresses.
      let isNumbers = if case .address = url.host { true } else { false }
      guard !isNumbers, url.effectivePort != 8787 else {
        throw CommandError.usage(
          "\(url) needs TLS, but there is no certificate and no proxy",
          hint: "add --proxy, or --certificate and --certificate-key; without TLS (at home) use --public-url "
            + url.description.replacing("https:", with: "http:"))
      }
      return .proxy
    }
    let word = try Prompt.answer(
      "file with the certificate chain, or proxy if a proxy has the certificate", usual: "proxy", orGive: "--proxy",
      call
    ) { text throws(CommandError) in text == "proxy" ? text : try file(text) }
    guard word != "proxy" else { return .proxy }
    return .certificate(
      file: word,
      key: try Prompt.answer("file with the certificate's private key", usual: nil, orGive: "--certificate-key", call) {
        text throws(CommandError) in
        try file(text)
      })
  }

  /// Checks that a file exists.
  ///
  /// The service itself checks whether it can use the file.
  private func file(_ path: String) throws(CommandError) -> String {
    guard path.hasPrefix("/"), (try? DurableFile.read(path, limit: 1 << 20, widest: nil)) != nil else {
      throw .usage("there is no file \(path)", hint: "give the full path, such as /etc/regent/fullchain.pem")
    }
    return path
  }
}
