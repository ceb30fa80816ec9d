import CommandKit
import RegentCryptography
import RegentHTTPCodec
import RegentPairingWire
import RegentPlatform

/// Looks for services that announce themselves on the networks of this box, by multicast DNS.
///
/// The question is asked three times, because datagrams get lost, above all on a wireless network; the answers come to
/// this program alone, which needs nobody else's program for it.
enum ServiceSearch {
  /// When it is asked again, and when the search is over; in milliseconds from its beginning.
  private static let pauses: [UInt64] = [0, 250, 600, 1_200]
  /// Whoever floods the box ends the search early, no more.
  private static let mostDatagrams = 256

  /// Where those who answer listen (RFC 6762): a group of IPv4 and its port.
  static let everybody = (group: UInt32(0xE000_00FB), port: UInt16(5353))

  /// Searches for a little more than a second.
  ///
  /// - Returns: what was found; nothing where there is no network.
  static func services(
    at place: (group: UInt32, port: UInt16) = everybody
  ) throws(SystemError) -> [FoundService] {
    let bytes = Random.bytes(2)
    var found = FoundServices(id: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
    let neighbours = try Neighbours(group: place.group, port: place.port)
    let begin = Clocks.bootNanoseconds()
    var heard = 0
    for end in pauses.dropFirst() {
      var isAsked = false
      for question in found.questions { isAsked = neighbours.ask(question) || isAsked }
      guard isAsked else { return [] }
      while heard < mostDatagrams {
        let passed = (Clocks.bootNanoseconds() - begin) / 1_000_000
        guard passed < end, let datagram = neighbours.hear(milliseconds: CInt(end - passed)) else { break }
        heard += 1
        found.hear(datagram)
      }
    }
    return found.services
  }
}

/// Which service a box is enrolled at when nobody said its address.
struct ServiceChoice {
  let address: AbsoluteURL
  /// Whether somebody in the network said it, and not the person who types.
  let isFound: Bool

  /// What was typed or stands in the settings, if nobody in the network said it.
  init(_ address: AbsoluteURL, isFound: Bool = false) {
    self.address = address
    self.isFound = isFound
  }

  /// The one that announces itself, the one of several that is picked, or the one that is typed.
  init(_ call: Invocation) throws(CommandError) {
    // A box without networks, or one that may not open a socket, has none to ask about.
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
      guard let typed = try? AbsoluteURL(parsing: text), typed.scheme == "https" || typed.scheme == "http" else {
        throw .usage("this is not a web address", hint: "use a form such as https://tv.example.org")
      }
      return ServiceChoice(typed)
    }
  }

  /// The address that goes into the settings.
  ///
  /// Anybody can announce himself and hand on what the box sends. He reads none of it; but his address would be the
  /// box's for good. So of an address that was found the service's own word counts, which only who made the code can
  /// seal.
  func kept(_ grant: EnrolmentGrant) throws(CommandError) -> AbsoluteURL {
    guard isFound else { return address }
    guard let own = try? AbsoluteURL(parsing: grant.service) else {
      throw CommandError(
        "the service does not publish its address", hint: "add --service with the address that phones open")
    }
    return own
  }

  private static func line(_ service: FoundService) -> String { "\(service.address)  \(service.name)" }
}
