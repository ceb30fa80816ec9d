import CommandKit
import RegentHTTPCodec
import RegentPlatform

/// Where the service listens on the network, as its settings write it.
struct ListenPlace: CustomStringConvertible {
  let description: String
  let port: UInt16
  private let host: String
  private let address: SocketAddress

  /// `127.0.0.1:8787`, `[::1]:8787` or `*:8787`; nil for a Unix socket, and for what the service itself refuses.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port != 0 else {
      return nil
    }
    host = String(text[..<colon])
    description = text
    self.port = port
    switch host {
    case "*": address = SocketAddress(ipv6: (0, 0), port: port)
    case "localhost": address = SocketAddress(ipv4: 0x7F00_0001, port: port)
    default:
      guard case .address(let number)? = HostName(parsing: host) else { return nil }
      address =
        number.isIPv4
        ? SocketAddress(ipv4: UInt32(truncatingIfNeeded: number.low), port: port)
        : SocketAddress(ipv6: (number.high, number.low), port: port)
    }
  }

  /// The next place with a port that is free.
  var nextFree: ListenPlace? {
    (port..<port.addingClamped(100)).lazy.compactMap { ListenPlace("\(host):\($0 + 1)") }
      .first { PortHolder.isFree($0.address) }
  }

  /// Who else listens there, as a sentence.
  ///
  /// What the service has itself is free once it is restarted.
  ///
  /// - Parameters:
  ///   - isRunning: whether the service answers.
  ///   - ownPort: the port that its settings give it.
  /// - Returns: nil when the service may listen there.
  func objection(isRunning: Bool, ownPort: UInt16?) -> String? {
    guard let holder = PortHolder.of(address) else { return nil }
    let isOwn: Bool
    if let name = holder.name {
      isOwn = name == "regentd" && (holder.unit == "regentd.service" || isRunning && !NightlyBackup.hasSystemd)
    } else {
      isOwn = isRunning && ownPort == port
    }
    guard !isOwn else { return nil }
    let who = holder.name.flatMap { name in holder.process.map { "\(name) (process \($0))" } } ?? "another program"
    return "\(description) is taken by \(who)"
  }
}

extension UInt16 {
  fileprivate func addingClamped(_ other: UInt16) -> UInt16 {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
