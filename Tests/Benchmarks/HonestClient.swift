internal import Glibc
internal import TestSupport

// An honest client, whose latency shows what an attack on the service costs others.

/// Sends requests one after another, every second one over a new connection, and returns their times in microseconds.
///
/// The client gets processor 1 with real-time priority, so that the times are those of the service. When it shared the
/// processor at normal priority, a kernel thread (kdamond) delayed every hundredth response by a millisecond, with or
/// without a flood.
func samples(_ port: UInt16, _ count: Int, _ request: (Int) throws -> HonestRequest) throws -> [Double] {
  try beFirst(on: "1", ["--fifo", "--reset-on-fork"], priority: "1")
  defer { try? beFirst(on: "0,1", ["--other"], priority: "0") }
  let kept = try normalConnection(port)
  defer { close(kept) }
  var times: [Double] = []
  for number in 0..<count {
    let request = try request(number)
    let start = ContinuousClock.now
    if number.isMultiple(of: 2) {
      try ask(kept, request)
    } else {
      let fresh = try normalConnection(port)
      defer { close(fresh) }
      try ask(fresh, request)
    }
    times.append((ContinuousClock.now - start) / .microseconds(1))
    // An honest client pauses between its requests.
    usleep(700)
  }
  return times
}

/// Sets the processors and the scheduling policy of the measuring thread.
///
/// Only root may raise its priority; for other users this fails and the figures have more noise.
private func beFirst(on processors: String, _ policy: [String], priority: String) throws {
  _ = try run("taskset", ["-c", "-p", processors, "\(getpid())"])
  _ = try run("chrt", policy + ["-p", priority, "\(getpid())"])
}

/// A request of the honest client, and the status that its response must have.
struct HonestRequest {
  let text: String
  let status: String
}

private func ask(_ descriptor: Int32, _ request: HonestRequest) throws {
  let bytes = Array(request.text.utf8)
  let sent = unsafe bytes.withUnsafeBytes { bytes in
    unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
  }
  guard sent == bytes.count else { throw TestSupportError("the normal client cannot send") }
  var reply = [UInt8](repeating: 0, count: 8192)
  var length = 0
  while try !isWhole(reply[..<length]) {
    let count = unsafe reply.withUnsafeMutableBytes { bytes in
      unsafe recv(descriptor, bytes.baseAddress?.advanced(by: length), bytes.count - length, 0)
    }
    guard count > 0 else {
      throw TestSupportError("the normal client got no answer: errno \(errno)")
    }
    length += count
  }
  guard reply.starts(with: "HTTP/1.1 \(request.status) ".utf8) else {
    throw TestSupportError(
      "the normal client got: \(String(decoding: reply[..<length], as: UTF8.self))")
  }
}

/// Whether the head and as much body as its Content-Length says have arrived.
private func isWhole(_ reply: ArraySlice<UInt8>) throws -> Bool {
  let text = String(decoding: reply, as: UTF8.self)
  guard let head = text.firstRange(of: "\r\n\r\n") else { return false }
  let line = text[..<head.lowerBound].split(separator: "\r\n").first {
    $0.lowercased().hasPrefix("content-length:")
  }
  let length = line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
  return text[head.upperBound...].utf8.count >= length
}

/// A connection from 127.0.0.2; the attacks use 127.0.0.1 and 127.0.0.3.
func normalConnection(_ port: UInt16) throws -> Int32 { try connection(from: 0x7F00_0002, to: port) }

func connection(from address: UInt32, to port: UInt16, receiving bytes: Int32? = nil) throws -> Int32 {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  guard descriptor >= 0 else { throw TestSupportError("no socket: errno \(errno)") }
  var patience = timeval(tv_sec: 5, tv_usec: 0)
  unsafe setsockopt(
    descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  if var bytes {
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
  }
  let bound = unsafe withName(address, 0) { name, size in unsafe bind(descriptor, name, size) }
  let connected = unsafe withName(0x7F00_0001, port) { name, size in
    unsafe connect(descriptor, name, size)
  }
  guard bound == 0, connected == 0 else {
    close(descriptor)
    throw TestSupportError("a client cannot connect: errno \(errno)")
  }
  return descriptor
}

private func withName(
  _ host: UInt32, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
  var name = sockaddr_in()
  name.sin_family = sa_family_t(AF_INET)
  name.sin_addr.s_addr = host.bigEndian
  name.sin_port = port.bigEndian
  return unsafe withUnsafePointer(to: &name) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
      unsafe body(generic, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
}

func percentile(_ values: [Double], _ percent: Int) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  return sorted[min(sorted.count - 1, sorted.count * percent / 100)]
}
