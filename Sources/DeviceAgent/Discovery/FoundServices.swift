import RegentHTTPClient
import RegentHTTPCodec
import RegentPairing

/// A service that a machine on the local network announces.
struct FoundService: Hashable {
  /// The instance name of the announced service.
  ///
  /// Any machine may have chosen it, so it is not trusted.
  let name: String
  let address: AbsoluteURL
}

/// Collects the services from the responses to the queries, and builds the next queries.
struct FoundServices {
  private struct Instance {
    let name: DNSName
    var port: UInt16?
    var texts: [[UInt8]]?
  }

  /// The maximum number of service instances that are kept.
  ///
  /// Further ones are ignored.
  static let most = 16
  private static let kind = DNSName("\(ServiceAnnouncement.kind).local")

  private let id: UInt16
  private var instances: [Instance] = []

  /// - Parameter id: the random id of the queries, so that only a machine that received a query can answer it.
  init(id: UInt16) { self.id = id }

  /// Takes a received datagram, and ignores it if it is not a valid response.
  ///
  /// If two records of one service instance differ, the first one is used.
  mutating func hear(_ datagram: [UInt8]) {
    guard let answer = DNSAnswer(datagram, to: id) else { return }
    for case .pointer(of: Self.kind, let name) in answer.records where name.parent == Self.kind {
      guard instances.count < Self.most, !instances.contains(where: { $0.name == name }) else { continue }
      instances.append(Instance(name: name))
    }
    for record in answer.records {
      switch record {
      case .address, .pointer: break
      case .port(let name, let port): note(name) { $0.port = $0.port ?? port }
      case .texts(let name, let texts): note(name) { $0.texts = $0.texts ?? texts }
      }
    }
  }

  /// The queries to send next: for instances of the service, and for the SRV and TXT records of each instance that
  /// lacks them.
  var questions: [[UInt8]] {
    [DNSAnswer.question(id, Self.kind, [.pointer])]
      + instances.filter { $0.port == nil || $0.texts == nil }.map {
        DNSAnswer.question(id, $0.name, [.server, .text])
      }
  }

  /// The found services that have a valid address, each address once, sorted by name.
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
      // The address that the user sees must be exactly the one that the box calls. A crafted text could add parts that
      // only the user sees.
      address.description == said.address, address.host.description == said.host,
      address.effectivePort == Int(port), address.query == nil, address.fragment == nil, !address.host.isLoopback
    else { return nil }
    return FoundService(name: String(decoding: instance.name.labels.first ?? [], as: UTF8.self), address: address)
  }
}
