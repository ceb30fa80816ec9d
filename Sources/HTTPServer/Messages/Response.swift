public import RegentHTTPCodec

/// The response of a handler.
///
/// The server sets Content-Length, Date, Connection and the framing; handlers set none of these. Handlers give HEAD the
/// same response as GET, and the server leaves out the body where HTTP forbids one.
public struct Response: Sendable {
  public var status: Status
  public var body: [UInt8]
  /// Whether the server closes the connection after this response.
  public var closesConnection = false
  /// An object for the handler's next request on this connection, see ``Request/remembered``; nil keeps the current
  /// one.
  ///
  /// Each connection has one such object. The server releases it with the connection, or when a handler answers
  /// `.later`, so that a long poll does not keep the object in memory. The object should be small.
  public var remembered: (any AnyObject & Sendable)?

  /// The header lines as they are sent, each with its CR LF.
  var fieldLines: [UInt8] = []
  /// Whether the handler set an unsafe header.
  ///
  /// The server then sends a 500 and not this response.
  var isFaulty = false
  var prepared: PreparedResponse?

  public init(_ status: Status, body: [UInt8] = []) {
    self.status = status
    self.body = body
  }

  /// Makes a response with a body and its media type.
  public init(_ status: Status, type: StaticString, body: [UInt8]) {
    self.init(status, body: body)
    addHeader(.contentType, "\(type)")
  }

  /// Makes a response with plain text in UTF-8.
  public static func text(_ status: Status, _ text: String) -> Response {
    Response(status, type: "text/plain; charset=utf-8", body: Array(text.utf8))
  }

  /// Makes a response from prepared bytes; headers may be added to it.
  public init(_ prepared: PreparedResponse) {
    status = prepared.status
    body = []
    self.prepared = prepared
  }

  /// Adds a header.
  ///
  /// Two mistakes turn the whole response into a 500, which the statistics count: a value with a control character,
  /// because a line end in it would let an attacker add headers, and a header that only the server may set.
  public mutating func addHeader(_ name: HeaderName, _ value: String) {
    let isSafe = value.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    guard isSafe, !name.isEngines else {
      isFaulty = true
      return
    }
    if fieldLines.isEmpty { fieldLines.reserveCapacity(256) }
    fieldLines += name.text.utf8
    fieldLines += ": ".utf8
    fieldLines += value.utf8
    fieldLines += "\r\n".utf8
  }

  /// The values of all headers with that name.
  public func headers(_ name: HeaderName) -> [String] {
    let lines = (prepared?.fieldLines ?? []) + fieldLines
    return lines.split(separator: 0x0A).compactMap { line in
      guard let colon = line.firstIndex(of: 0x3A),
        HeaderName(known: String(decoding: line[..<colon], as: UTF8.self)) == name
      else { return nil }
      return String(decoding: line[(colon + 2)...].dropLast(), as: UTF8.self)
    }
  }

  public func header(_ name: HeaderName) -> String? { headers(name).first }
}

extension HeaderName {
  /// Whether only the server may set this header.
  fileprivate var isEngines: Bool {
    switch text.utf8.count {
    case 4: self == .date
    case 10: self == .connection
    case 14: self == .contentLength
    case 17: self == .transferEncoding
    default: false
    }
  }
}

/// A response that is encoded once and sent many times, such as a static file or the health check.
public final class PreparedResponse: Sendable {
  public let status: Status
  public let body: [UInt8]
  let fieldLines: [UInt8]
  /// The status line, the header lines and Content-Length of the response.
  ///
  /// The server adds Date and the empty line.
  let head: [UInt8]

  /// Encodes `response`.
  ///
  /// A response with an unsafe header (see `addHeader`) becomes a 500.
  public init(_ response: Response) {
    let sound = response.isFaulty ? Response(.internalServerError) : response
    status = sound.status
    body = sound.status.forbidsBody ? [] : sound.body
    fieldLines = sound.fieldLines
    var bytes: [UInt8] = []
    bytes.appendHead(of: sound)
    head = bytes
  }
}
