public struct TestRequest: Sendable {
  /// The method, which need not exist.
  public var method: String
  /// The request target as it is sent.
  public var target: String
  /// The header fields in order.
  ///
  /// Host is added if it is missing.
  public var headers: [(name: String, value: String)]
  /// The body.
  ///
  /// Content-Length is added if it is not empty.
  public var body: [UInt8]

  public init(
    _ method: String, _ target: String, headers: [(name: String, value: String)] = [],
    body: [UInt8] = []
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
  }

  /// The request line and the header fields with the empty line after them.
  var head: [UInt8] {
    var lines = "\(method) \(target) HTTP/1.1\r\n"
    if !has("host") { lines += "Host: test.example\r\n" }
    for header in headers { lines += "\(header.name): \(header.value)\r\n" }
    if !has("content-length"), !body.isEmpty || method == "POST" {
      lines += "Content-Length: \(body.count)\r\n"
    }
    return Array((lines + "\r\n").utf8)
  }

  private func has(_ name: String) -> Bool { headers.contains { $0.name.lowercased() == name } }
}

public struct TestResponse: Sendable {
  public let status: UInt16
  /// The header fields in order, with their names as they were sent.
  public let headers: [(name: String, value: String)]
  /// The body without the chunked encoding.
  public let body: [UInt8]

  /// A placeholder until a response arrives.
  public static var nothing: TestResponse { TestResponse(status: 0, headers: [], body: []) }

  /// The value of the header with this name; nil if there is none or more than one.
  public func header(_ name: String) -> String? {
    let found = headers(name)
    return found.count == 1 ? found.first : nil
  }

  public func headers(_ name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  public var text: String { String(decoding: body, as: UTF8.self) }
}

/// Bytes that are not a valid response.
public struct NotAResponse: Error, CustomStringConvertible {
  public let description: String
}

extension TestResponse {
  /// Removes the first complete response from `bytes`; nil if more bytes are needed.
  ///
  /// It does not use RegentHTTPCodec, so that a mistake there is not repeated here.
  public static func take(
    from bytes: inout [UInt8], toHead: Bool, isEnded: Bool
  ) throws -> TestResponse? {
    guard let headEnd = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<headEnd.lowerBound], as: UTF8.self)
      .split(separator: "\r\n", omittingEmptySubsequences: false)
    let words = lines[0].split(separator: " ", maxSplits: 2)
    guard words.count >= 2, words[0] == "HTTP/1.1", words[1].count == 3,
      let status = UInt16(words[1])
    else { throw NotAResponse(description: "not a status line: \(lines[0].prefix(80))") }
    let headers = try lines.dropFirst().map { line in
      guard let colon = line.firstIndex(of: ":") else {
        throw NotAResponse(description: "not a field line: \(line.prefix(80))")
      }
      return (
        name: String(line[..<colon]),
        value: String(line[line.index(after: colon)...].drop { $0 == " " })
      )
    }
    var rest = bytes[headEnd.upperBound...]
    let value = { (name: String) in headers.first { $0.name.lowercased() == name }?.value }
    let body: [UInt8]
    if toHead || status < 200 || status == 204 || status == 304 {
      body = []
    } else if let text = value("content-length") {
      guard let length = Int(text) else { throw NotAResponse(description: "length \(text)") }
      guard rest.count >= length else { return nil }
      body = Array(rest.prefix(length))
      rest = rest.dropFirst(length)
    } else if value("transfer-encoding") == "chunked" {
      guard let decoded = referenceChunks(Array(rest)) else { return nil }
      body = decoded.body
      rest = rest.dropFirst(decoded.length)
    } else {
      guard isEnded else { return nil }
      body = Array(rest)
      rest = []
    }
    bytes = Array(rest)
    return TestResponse(status: status, headers: headers, body: body)
  }
}

/// Decodes a chunked body in the simplest way; nil if it is incomplete or malformed.
///
/// Decoders are compared with this reference. It skips chunk extensions and supports no trailers.
public func referenceChunks(_ bytes: [UInt8]) -> (body: [UInt8], length: Int)? {
  var body: [UInt8] = []
  var position = 0
  while true {
    guard let lineEnd = bytes[position...].firstRange(of: [13, 10]) else { return nil }
    let digits = bytes[position..<lineEnd.lowerBound].prefix { $0 != UInt8(ascii: ";") }
    guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size >= 0 else {
      return nil
    }
    let start = lineEnd.upperBound
    guard size <= bytes.count - start - 2 else { return nil }
    body += bytes[start..<(start + size)]
    guard bytes[(start + size)..<(start + size + 2)].elementsEqual([13, 10]) else { return nil }
    position = start + size + 2
    if size == 0 { return (body, position) }
  }
}
