internal import Glibc
internal import RegentPlatform
internal import TestSupport

// Programs that refresh one after another, each with its last refresh token. wrk is not used, because its scripts do
// not know which connection a response belongs to, so it would need one thread for each program; those took a third of
// the service's processor time on the service's cores.

/// The number of refreshes of 64 programs.
struct RefreshLoad {
  let requests: Double
  let requestsPerSecond: Double

  /// Starts `load-refreshes` on processor 1; the file has one token a line.
  init(port: UInt16, _ client: String, tokens file: String, seconds: Int = 2) throws {
    let done = try run(
      "taskset", ["-c", "1", try ownProgram(), "load-refreshes", "\(port)", client, file, "\(seconds)"])
    let numbers = done.outputText.split(separator: " ").compactMap { Double($0) }
    guard done.status == 0, numbers.count == 2 else { throw TestSupportError("load-refreshes: \(done.errorText)") }
    requests = numbers[0]
    requestsPerSecond = numbers[0] / numbers[1]
  }
}

/// `load-refreshes PORT CLIENT TOKENS SECONDS` refreshes the tokens and prints the number of responses and the seconds.
func loadRefreshes(_ arguments: [String]) -> Int32 {
  guard arguments.count == 4, let port = UInt16(arguments[0]), let seconds = UInt64(arguments[3]) else {
    note("usage: Benchmarks load-refreshes PORT CLIENT TOKENS SECONDS\n")
    return 2
  }
  do {
    let tokens = String(decoding: try readFile(arguments[2]), as: UTF8.self).split(separator: "\n")
    var programs = try tokens.map { try RefreshingProgram(port, arguments[1], Array($0.utf8)) }
    let begin = Clocks.monotonicNanoseconds()
    let count = try refresh(&programs, until: begin + seconds * 1_000_000_000)
    print("\(count) \(Double(Clocks.monotonicNanoseconds() - begin) / 1e9) ")
    return 0
  } catch {
    note("\(error)\n")
    return 1
  }
}

private func refresh(_ programs: inout [RefreshingProgram], until end: UInt64) throws -> Int {
  var waiting = programs.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
  for program in programs { try program.ask() }
  var count = 0
  while Clocks.monotonicNanoseconds() < end {
    guard unsafe poll(&waiting, nfds_t(waiting.count), 1_000) > 0 else {
      throw TestSupportError("no answer within a second")
    }
    for place in waiting.indices where waiting[place].revents != 0 {
      guard try programs[place].receive() else { continue }
      count += 1
      try programs[place].ask()
    }
  }
  // Responses that are still on their way are lost, and their tokens with them.
  return count
}

private struct RefreshingProgram {
  let socket: Int32
  private var request: [UInt8]
  private let tokenLength: Int
  private var answer = [UInt8](repeating: 0, count: 16_384)
  private var length = 0

  init(_ port: UInt16, _ client: String, _ token: [UInt8]) throws {
    guard let socket = connectLoopback(port) else { throw TestSupportError("no connection") }
    self.socket = socket
    let form = Array("client_id=\(client)&grant_type=refresh_token&refresh_token=".utf8) + token
    let head =
      "POST /oauth/token HTTP/1.1\r\nHost: b\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      + "Content-Length: \(form.count)\r\n\r\n"
    request = Array(head.utf8) + form
    tokenLength = token.count
  }

  func ask() throws {
    let sent = unsafe request.withUnsafeBytes { unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    guard sent == request.count else { throw TestSupportError("a program cannot send: errno \(errno)") }
  }

  /// Receives available bytes.
  ///
  /// Returns true when the response is complete and the next request has its token.
  mutating func receive() throws -> Bool {
    let count = unsafe answer.withUnsafeMutableBytes {
      unsafe recv(socket, $0.baseAddress?.advanced(by: length), $0.count - length, 0)
    }
    guard count > 0 else { throw TestSupportError("a program got no answer: errno \(errno)") }
    length += count
    // A response with tokens ends with its only closing brace.
    guard answer[length - 1] == UInt8(ascii: "}") else { return false }
    guard answer.starts(with: "HTTP/1.1 200 ".utf8), let start = placeOfToken() else {
      throw TestSupportError("a program got: \(String(decoding: answer[..<length], as: UTF8.self))")
    }
    for place in 0..<tokenLength { request[request.count - tokenLength + place] = answer[start + place] }
    length = 0
    return true
  }

  /// Searches from the end, because the long access token comes before the refresh token.
  private func placeOfToken() -> Int? {
    let name = Array("\"refresh_token\":\"".utf8)
    var start = length - tokenLength - name.count
    while start > 0 {
      if answer[start] == name[0], answer[start..<(start + name.count)].elementsEqual(name) {
        return start + name.count
      }
      start -= 1
    }
    return nil
  }
}
