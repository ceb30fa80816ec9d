import CommandKit
import RegentHTTPCodec
import RegentPlatform

/// An address in the setting REGENT_LISTEN.
struct ListenPlace: CustomStringConvertible {
  let description: String
  let port: UInt16
  private let host: String
  private let address: SocketAddress

  /// The type of an option that takes an address on which the service can listen.
  ///
  /// Port 0 is refused, because it would be another port at each start.
  static var kind: ValueKind<String> {
    ValueKind("ADDRESS", show: { $0 }) { text throws(ValueProblem) in
      if isSocket(text) || ListenPlace(text) != nil { return text }
      guard !text.hasSuffix(":0") else {
        throw ValueProblem(
          "has port 0, which means a different port at each start", hint: "use a port from 1 to 65535")
      }
      throw ValueProblem(
        "is not an address to listen on",
        hint: "use --listen 127.0.0.1:8788, [::1]:8788, *:8788 for every address, or unix:/run/regent.sock")
    }
  }

  /// Whether the text is `unix:/path`, with a path that is not too long for the kernel.
  private static func isSocket(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.starts(with: "unix:/".utf8) && (2...longestSocket).contains(bytes.count - 5)
      && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  private static let longestSocket = 107

  /// Parses `127.0.0.1:8787`, `[::1]:8787` or `*:8787`; nil for a Unix socket, and for what the service would reject.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    let digits = bytes[(colon + 1)...]
    guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = UInt16(String(decoding: digits, as: UTF8.self)), port != 0
    else { return nil }
    host = String(decoding: bytes[..<colon], as: UTF8.self)
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

  /// The same address with the next free port.
  var nextFree: ListenPlace? {
    (port..<port.addingClamped(100)).lazy.compactMap { ListenPlace("\(host):\($0 + 1)") }
      .first { PortHolder.isFree($0.address) }
  }

  /// The program that already listens on the address, as a sentence.
  ///
  /// A port that the service itself uses counts as free, because setup restarts the service.
  ///
  /// - Parameters:
  ///   - isRunning: whether the service answers.
  ///   - ownPort: the port in the service's settings.
  /// - Returns: nil if the service can listen there.
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
    return "\(description) is already used by \(who)"
  }
}

extension UInt16 {
  fileprivate func addingClamped(_ other: UInt16) -> UInt16 {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
