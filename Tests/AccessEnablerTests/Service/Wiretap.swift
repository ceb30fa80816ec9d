import Glibc
import HTTPTestSupport
import RegentPlatform
import TestSupport

/// A proxy between a box and its service that passes every byte on and records what the box sends.
final class Wiretap: Sendable {
  /// The bytes of each connection, so that concurrent requests are not mixed.
  private let said = Locked<[Int32: [UInt8]]>([:])
  private let numbers = Locked<Int32>(0)
  private let listener = Locked<Int32>(-1)

  deinit {
    let listener = listener.withLock { $0 }
    // Ends the accepting thread. The relayed connections end when either side closes.
    if listener >= 0 { shutdown(listener, Int32(SHUT_RDWR)) }
  }

  func forget() { said.withLock { $0 = [:] } }

  /// The HTTP heads of the requests that arrived completely.
  var requests: [Head] {
    said.withLock { $0 }.values.flatMap { bytes in
      var heads: [Head] = []
      var head: [String]?
      for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
        let text = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        if var lines = head {
          lines.append(text)
          head = lines
          guard text.isEmpty else { continue }
          heads.append(Head(lines: lines))
          head = nil
        } else if text.hasSuffix(" HTTP/1.1") {
          head = [text]
        }
      }
      return heads
    }
  }

  struct Head {
    fileprivate let lines: [String]

    /// Method and target.
    ///
    /// On a reused connection the text may begin with the previous request's body.
    var requestLine: String { lines[0] }

    func header(_ name: String) -> String? {
      let start = "\(name.lowercased()):"
      let line = lines.first { $0.lowercased().hasPrefix(start) }
      return line.map { String($0.dropFirst(start.count).drop { $0 == " " }) }
    }
  }

  /// Listens and returns the URL that boxes must use.
  func open(to url: String) throws -> String {
    guard let target = url.split(separator: ":").last.flatMap({ UInt16($0) }) else {
      throw TestSupportError("no port in \(url)")
    }
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe bind(number, generic, length) == 0 && listen(number, 64) == 0
          && getsockname(number, generic, &length) == 0
      }
    }
    guard isBound else { throw TestSupportError("no listener: errno \(errno)") }
    listener.withLock { $0 = number }
    startThread { [weak self] in
      while true {
        let box = accept(number, nil, nil)
        guard box >= 0, let self else { break }
        self.relay(box, target)
      }
      close(number)
    }
    return "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
  }

  private func relay(_ box: Int32, _ target: UInt16) {
    let service = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(target)
    let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe connect(service, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else {
      close(service)
      close(box)
      return
    }
    let number = numbers.withLock { number in
      number += 1
      return number
    }
    let open = Locked(2)
    let end = { @Sendable in
      // The direction that ends first shuts both sockets down, the second closes them.
      shutdown(box, Int32(SHUT_RDWR))
      shutdown(service, Int32(SHUT_RDWR))
      let isLast = open.withLock { open in
        open -= 1
        return open == 0
      }
      guard isLast else { return }
      close(box)
      close(service)
    }
    startThread { [weak self] in
      copyBytes(from: box, to: service) { bytes in
        self?.said.withLock { $0[number, default: []] += bytes }
      }
      end()
    }
    startThread {
      copyBytes(from: service, to: box) { _ in }
      end()
    }
  }
}

private func loopback(_ port: UInt16) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return address
}

/// Copies until one side closes.
private func copyBytes(from: Int32, to: Int32, _ note: (ArraySlice<UInt8>) -> Void) {
  var bytes = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = unsafe recv(from, &bytes, bytes.count, 0)
    guard count > 0 else { return }
    // Recorded before it is sent on, so that a test that has the response finds the request here.
    note(bytes[..<count])
    var sent = 0
    while sent < count {
      let more = unsafe bytes.withUnsafeBytes { buffer in
        unsafe send(to, buffer.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
      }
      guard more > 0 else { return }
      sent += more
    }
  }
}
