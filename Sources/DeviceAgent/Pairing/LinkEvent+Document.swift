import RegentHTTPClient
import RegentJSON

// Converts the events of a sign-in that the daemon does for another program to JSON for the daemon's socket.

extension LinkEvent {
  var document: JSONValue {
    switch self {
    case .providers(let entries, let last):
      .object(
        JSONObject(
          [
            JSONObject.Member("event", "providers"),
            JSONObject.Member("providers", .array(entries.map(\.document))),
            last.map { JSONObject.Member("last", .string($0)) },
          ].compactMap(\.self)))
    case .code(let code):
      [
        "event": "code", "code": .string(code.code), "display": .string(code.display),
        "address": .string(code.address), "link": .string(code.link), "expires": .integer(code.expires),
        // A time since boot is valid for both processes, because they run on one machine.
        "deadline": .integer(code.deadline), "lifetime": .integer(code.lifetime),
      ]
    case .opened: ["event": "opened"]
    case .match(let number): ["event": "match", "number": .integer(Int64(number))]
    case .authenticated(let name, let provider): Self.viewer("authenticated", name, provider)
    case .alreadySignedIn(let name, let provider, let id): Self.viewer("already", name, provider, id)
    case .denied: ["event": "denied"]
    case .expired: ["event": "expired"]
    case .withdrawn: ["event": "withdrawn"]
    case .trouble(let failure): ["event": "trouble", "failure": failure.document]
    case .recovered: ["event": "recovered"]
    case .failed(let failure): ["event": "failed", "failure": failure.document]
    }
  }

  init?(_ document: JSONValue) {
    let (name, provider) = (document["name"]?.string, document["provider"]?.string)
    switch document["event"]?.string {
    case "providers":
      let entries = (document["providers"]?.array ?? []).compactMap(ProviderEntry.init)
      self = .providers(entries, last: document["last"]?.string)
    case "code":
      guard let code = ShownCode(document) else { return nil }
      self = .code(code)
    case "opened": self = .opened
    case "match":
      guard let number = document["number"]?.int64.flatMap({ Int(exactly: $0) }) else { return nil }
      self = .match(number)
    case "authenticated": self = .authenticated(name: name, provider: provider)
    case "already": self = .alreadySignedIn(name: name, provider: provider, id: document["id"]?.string)
    case "denied": self = .denied
    case "expired": self = .expired
    case "withdrawn": self = .withdrawn
    case "recovered": self = .recovered
    case "trouble", "failed":
      guard let failure = document["failure"].flatMap(AgentFailure.init) else { return nil }
      self = document["event"]?.string == "failed" ? .failed(failure) : .trouble(failure)
    default: return nil
    }
  }

  private static func viewer(_ event: String, _ name: String?, _ provider: String?, _ id: String? = nil) -> JSONValue {
    var object: JSONObject = ["event": .string(event)]
    if let name { object["name"] = .string(name) }
    if let provider { object["provider"] = .string(provider) }
    if let id { object["id"] = .string(id) }
    return .object(object)
  }
}

extension ShownCode {
  fileprivate init?(_ document: JSONValue) {
    guard let code = document["code"]?.string, let display = document["display"]?.string,
      let address = document["address"]?.string, let link = document["link"]?.string,
      let expires = document["expires"]?.int64, let deadline = document["deadline"]?.int64,
      let lifetime = document["lifetime"]?.int64
    else { return nil }
    self.init(
      code: code, display: display, address: address, link: link, expires: expires,
      deadline: deadline, lifetime: lifetime)
  }
}

extension AgentFailure {
  fileprivate var document: JSONValue {
    var object: JSONObject = [
      "code": .string(code), "message": .string(message), "trouble": .string(trouble.word),
    ]
    if let hint { object["hint"] = .string(hint) }
    switch trouble {
    case .offline(let host): object["host"] = .string(host)
    case .busy(let seconds?): object["seconds"] = .integer(seconds)
    case .certificate(let fault): object["fault"] = .string(fault.rawValue)
    default: break
    }
    return .object(object)
  }

  fileprivate init?(_ document: JSONValue) {
    guard let code = document["code"]?.string, let message = document["message"]?.string else {
      return nil
    }
    self.init(
      code: code, message: message, hint: document["hint"]?.string,
      trouble: PairingObstacle(document))
  }
}

extension PairingObstacle {
  fileprivate var word: String {
    switch self {
    case .offline: "offline"
    case .clock: "clock"
    case .portal: "portal"
    case .certificate: "certificate"
    case .refused: "refused"
    case .foreignAddress: "foreign-address"
    case .busy: "busy"
    case .service: "service"
    case .storage: "storage"
    case .readOnly: "read-only"
    case .accountDisabled: "account-disabled"
    }
  }

  fileprivate init(_ document: JSONValue) {
    switch document["trouble"]?.string {
    case "offline": self = .offline(host: document["host"]?.string ?? "")
    case "clock": self = .clock
    case "portal": self = .portal
    case "certificate":
      self = .certificate(document["fault"]?.string.flatMap(ClientError.TLSFault.init) ?? .refusedCertificate)
    case "refused": self = .refused
    case "foreign-address": self = .foreignAddress
    case "busy": self = .busy(seconds: document["seconds"]?.int64)
    case "storage": self = .storage
    case "read-only": self = .readOnly
    case "account-disabled": self = .accountDisabled
    default: self = .service
    }
  }
}
