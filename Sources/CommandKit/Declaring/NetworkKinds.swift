internal import Glibc

extension ValueKind where Value == String {
  /// A network: `10.0.0.0/8`, `fd00::/8`, or one address.
  public static var network: ValueKind {
    ValueKind("CIDR", show: { $0 }) { text throws(ValueProblem) in
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count <= 2, let address = AddressBytes(String(parts[0])) else {
        throw ValueProblem("is not a network", hint: "write it as 10.0.0.0/8 or fd00::/8")
      }
      guard parts.count == 2 else { return text }
      guard let bits = Int(parts[1]), parts[1].allSatisfy(\.isASCIIDigit),
        (0...address.bytes.count * 8).contains(bits)
      else {
        throw ValueProblem(
          "has no network size between 0 and \(address.bytes.count * 8) after the slash",
          hint: "write it as 10.0.0.0/8 or fd00::/8")
      }
      // "10.1.2.3/8" is one address to some readers and a whole network to others.
      let network = address.masked(to: bits)
      guard network == address else {
        throw ValueProblem(
          "has address bits behind the network size",
          hint:
            "write \(network.text)/\(bits) for the network, or \(address.text) for the one address")
      }
      return text
    }
  }
}

/// An IPv4 or IPv6 address in network order.
struct AddressBytes: Equatable {
  private(set) var bytes: [UInt8]

  init?(_ text: String) {
    let family = text.contains(":") ? AF_INET6 : AF_INET
    var buffer = [UInt8](repeating: 0, count: family == AF_INET6 ? 16 : 4)
    // inet_pton is strict: no shortened or octal IPv4, no zone. It reads up to a NUL, so none may be inside.
    guard !text.utf8.contains(0), unsafe inet_pton(family, text, &buffer) == 1 else { return nil }
    bytes = buffer
  }

  func masked(to bits: Int) -> AddressBytes {
    var copy = self
    for index in bytes.indices {
      let kept = min(max(bits - index * 8, 0), 8)
      copy.bytes[index] &= UInt8(truncatingIfNeeded: 0xff00 >> kept)
    }
    return copy
  }

  var text: String {
    var buffer = [CChar](repeating: 0, count: 64)
    let family = bytes.count == 16 ? AF_INET6 : AF_INET
    guard unsafe inet_ntop(family, bytes, &buffer, socklen_t(buffer.count)) != nil else {
      return ""
    }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
