import RegentHTTPCodec
import RegentPairing

/// A service that somebody announces in the network.
struct FoundService: Hashable {
  /// How it calls itself: a stranger's text.
  let name: String
  let address: AbsoluteURL
}

/// What was heard of services so far, and what is still to be asked.
struct FoundServices {
  private struct Instance {
    let name: DNSName
    var port: UInt16?
    var texts: [[UInt8]]?
  }

  /// Of more than this many the rest is not heard of.
  static let most = 16
  private static let kind = DNSName("\(ServiceAnnouncement.kind).local")

  private let id: UInt16
  private var instances: [Instance] = []

  /// - Parameter id: what the questions are called, so that only who heard them can answer.
  init(id: UInt16) { self.id = id }

  /// Hears one datagram, whatever it is.
  ///
  /// Of two that say something else about one name the first is believed.
  mutating func hear(_ datagram: [UInt8]) {
    guard let answer = DNSAnswer(datagram, to: id) else { return }
    for case .pointer(of: Self.kind, let name) in answer.records where name.parent == Self.kind {
      guard instances.count < Self.most, !instances.contains(where: { $0.name == name }) else { continue }
      instances.append(Instance(name: name))
    }
    for record in answer.records {
      switch record {
      case .pointer: break
      case .port(let name, let port): note(name) { $0.port = $0.port ?? port }
      case .texts(let name, let texts): note(name) { $0.texts = $0.texts ?? texts }
      }
    }
  }

  /// What to ask now: who is there, and of each that did not say so in the same breath, where.
  var questions: [[UInt8]] {
    [DNSAnswer.question(id, Self.kind, [.pointer])]
      + instances.filter { $0.port == nil || $0.texts == nil }.map {
        DNSAnswer.question(id, $0.name, [.server, .text])
      }
  }

  /// Those whose address is one, each address once, in the order of their names.
  var services: [FoundService] {
    var seen: Set<AbsoluteURL> = []
    return instances.compactMap(Self.service).filter { seen.insert($0.address).inserted }
      .sorted { ($0.name, $0.address.description) < ($1.name, $1.address.description) }
  }

  private mutating func note(_ name: DNSName, _ change: (inout Instance) -> Void) {
    guard let index = instances.firstIndex(where: { $0.name == name }) else { return }
    change(&instances[index])
  }

  private static func service(_ instance: Instance) -> FoundService? {
    let texts = instance.texts?.compactMap { String(validating: $0, as: UTF8.self) }
    guard let port = instance.port, let texts, texts.count == instance.texts?.count,
      let said = ServiceAnnouncement(port: port, texts: texts),
      let address = try? AbsoluteURL(parsing: said.address),
      // What is shown must be what is called, and nothing that a text smuggled in.
      address.description == said.address, address.host.description == said.host,
      address.effectivePort == Int(port), address.query == nil, address.fragment == nil, !address.host.isLoopback
    else { return nil }
    return FoundService(name: String(decoding: instance.name.labels.first ?? [], as: UTF8.self), address: address)
  }
}
