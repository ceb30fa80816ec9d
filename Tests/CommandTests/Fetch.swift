import Glibc
import TestSupport

/// One HTTP exchange over a plain socket, so that no HTTP client hides what is on the wire.
struct Fetched {
  let status: Int
  let head: String
  let body: String

  /// The value of a header; `name` is in lower case.
  func header(_ name: String) -> String? {
    head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name):") }
      .map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
  }
}

func fetch(_ url: String, method: String = "GET") throws -> Fetched {
  let rest = url.drop { $0 != "/" }.drop { $0 == "/" }
  let authority = rest.prefix { $0 != "/" }
  let path = rest[authority.endIndex...]
  let request =
    "\(method) \(path.isEmpty ? "/" : path) HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n"
  let answer = try exchange(url, Array(request.utf8))
  let text = String(decoding: answer, as: UTF8.self)
  guard let end = text.firstRange(of: "\r\n\r\n"), text.hasPrefix("HTTP/1.1 "),
    let status = Int(text.dropFirst(9).prefix(3))
  else { throw TestSupportError("not an HTTP answer: \(text)") }
  return Fetched(
    status: status, head: String(text[..<end.lowerBound]), body: String(text[end.upperBound...]))
}

/// Opens a connection, which the caller must close.
func openConnection(to url: String) throws -> Int32 {
  let authority = url.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }
  guard let colon = authority.lastIndex(of: ":"),
    let port = UInt16(authority[authority.index(after: colon)...])
  else { throw TestSupportError("no port in \(url)") }
  let isIPv6 = authority.hasPrefix("[")
  let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  guard connectToLoopback(descriptor, port, isIPv6: isIPv6) else {
    close(descriptor)
    throw TestSupportError("nobody listens on port \(port): errno \(errno)")
  }
  return descriptor
}

func exchange(_ url: String, _ request: [UInt8]) throws -> [UInt8] {
  let descriptor = try openConnection(to: url)
  defer { close(descriptor) }
  var sent = 0
  while sent < request.count {
    let count = unsafe request[sent...].withUnsafeBytes {
      unsafe write(descriptor, $0.baseAddress, $0.count)
    }
    guard count > 0 else { throw TestSupportError("cannot send: errno \(errno)") }
    sent += count
  }
  var answer: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 4_096)
  while true {
    let count = unsafe read(descriptor, &chunk, chunk.count)
    guard count > 0 else { return answer }
    answer += chunk[..<count]
  }
}

private func connectToLoopback(_ descriptor: Int32, _ port: UInt16, isIPv6: Bool) -> Bool {
  func connect<Address>(_ address: Address) -> Bool {
    unsafe withUnsafePointer(to: address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe Glibc.connect(descriptor, generic, socklen_t(MemoryLayout<Address>.size)) == 0
      }
    }
  }
  if isIPv6 {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    address.sin6_addr = in6addr_loopback
    return connect(address)
  }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  return connect(address)
}
