import CommandKit
import RegentCryptography
import RegentHTTPClient
import RegentHTTPCodec
import RegentPairingWire
import RegentPlatform

/// Finds services on the box's networks by multicast DNS.
enum ServiceSearch {
  /// Searches for 1.2 seconds.
  ///
  /// - Returns: the services, or an empty list if there is no network.
  static func services(
    at place: (group: UInt32, port: UInt16) = MulticastQuery.everybody
  ) throws(SystemError) -> [FoundService] {
    let bytes = Random.bytes(2)
    var found = FoundServices(id: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
    // Several services may answer, so the search lasts its whole time.
    try MulticastQuery.perform(at: place, questions: { found.questions }) {
      found.hear($0)
      return false
    }
    return found.services
  }
}

/// The service at which the box is enrolled.
struct ServiceChoice {
  let address: AbsoluteURL
  /// Whether the address came from an announcement on the network.
  ///
  /// Otherwise the user gave it.
  let isFound: Bool

  /// Creates a choice of a service from its address.
  ///
  /// `isFound` says that the address came from an announcement, and not from the user or the settings.
  init(_ address: AbsoluteURL, isFound: Bool = false) {
    self.address = address
    self.isFound = isFound
  }

  /// Searches for services.
  ///
  /// If there is one, takes it; if there are several, lets the user choose; if there is none, asks for an address.
  init(_ call: Invocation) throws(CommandError) {
    // Without a network or a socket, the search counts as empty.
    let found = (try? ServiceSearch.services()) ?? []
    switch found.count {
    case 0: call.console.note("no service was found on this network")
    case 1: call.console.note("found: \(Self.line(found[0]))")
    default:
      for (index, service) in found.enumerated() { call.console.note("\(index + 1)  \(Self.line(service))") }
    }
    if found.count == 1 {
      self.init(found[0].address, isFound: true)
      return
    }
    self = try Prompt.answer(
      found.isEmpty ? "address of the service" : "the number of a service, or another address", usual: nil,
      orGive: "--service",
      call
    ) { text throws(CommandError) in
      if let number = Int(text), found.indices.contains(number - 1) {
        return ServiceChoice(found[number - 1].address, isFound: true)
      }
      guard let typed = try? AbsoluteURL(parsing: text, acceptsZone: true),
        typed.scheme == "https" || typed.scheme == "http"
      else {
        throw .usage("this is not a web address", hint: "use a form such as https://tv.example.org")
      }
      return ServiceChoice(typed)
    }
  }

  /// The address to write into the settings.
  ///
  /// An attacker on the network can announce an address and forward the box's requests. The attacker cannot read the
  /// requests, but the box would use the attacker's address from then on. For an address that was found, the box
  /// therefore stores the one in the enrolment response, which only the service that made the enrolment code can
  /// encrypt.
  func kept(_ grant: EnrolmentGrant) throws(CommandError) -> AbsoluteURL {
    guard isFound else { return address }
    guard let own = try? AbsoluteURL(parsing: grant.service) else {
      throw CommandError(
        "the service did not send its public address",
        hint: "run the command again with the address that phones open: --service https://HOST")
    }
    return own
  }

  private static func line(_ service: FoundService) -> String { "\(service.address)  \(service.name)" }
}
