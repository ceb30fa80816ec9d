public import RegentHTTPCodec

/// What a handler answers.
///
/// Content-Length, Date, Connection and framing are the engine's: handlers set none of them, give the same response to
/// HEAD as to GET, and the engine leaves the body out where HTTP forbids one.
public struct Response: Sendable {
  public var status: Status
  public var body: [UInt8]
  /// Ends the connection after this reply.
  public var closesConnection = false
  /// What the next request on this connection gets as ``Request/remembered``; nothing leaves it as it is.
  ///
  /// One value for each connection, and gone with it, or with the next reply that is completed later: a wait that is
  /// held must not keep it. It is the handler's to keep it small.
  public var remembered: (any AnyObject & Sendable)?

  /// The field lines as they go to the wire, each with its CR LF.
  var fieldLines: [UInt8] = []
  /// A header that could not be written safely was set: the engine answers 500 instead.
  var isFaulty = false
  var prepared: PreparedResponse?

  public init(_ status: Status, body: [UInt8] = []) {
    self.status = status
    self.body = body
  }

  /// A response with a body and its media type.
  public init(_ status: Status, type: StaticString, body: [UInt8]) {
    self.init(status, body: body)
    addHeader(.contentType, "\(type)")
  }

  /// Plain text in UTF-8.
  public static func text(_ status: Status, _ text: String) -> Response {
    Response(status, type: "text/plain; charset=utf-8", body: Array(text.utf8))
  }

  /// A response that was put together beforehand; headers may be added to it.
  public init(_ prepared: PreparedResponse) {
    status = prepared.status
    body = []
    self.prepared = prepared
  }

  /// Adds a header line.
  ///
  /// A value with a line end or another control character would let whoever wrote it add headers of its own, and the
  /// engine's own headers cannot be set: both turn the whole response into a 500, which the statistics count.
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

  /// The values of all headers with that name that were added.
  public func headers(_ name: HeaderName) -> [String] {
    let lines = (prepared?.fieldLines ?? []) + fieldLines
    return lines.split(separator: 0x0A).compactMap { line in
      guard let colon = line.firstIndex(of: 0x3A),
        HeaderName(known: String(decoding: line[..<colon], as: UTF8.self)) == name
      else { return nil }
      return String(decoding: line[(colon + 2)...].dropLast(), as: UTF8.self)
    }
  }

  /// The value of the first header with that name.
  public func header(_ name: HeaderName) -> String? { headers(name).first }
}

extension HeaderName {
  /// Whether the engine alone writes this header.
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

/// A response whose bytes are made once and sent many times: a static file, a health answer.
public final class PreparedResponse: Sendable {
  public let status: Status
  public let body: [UInt8]
  let fieldLines: [UInt8]
  /// Status line, field lines and Content-Length; the engine adds Date and the empty line.
  let head: [UInt8]

  /// Makes the bytes of `response`; a faulty one (see `addHeader`) becomes the 500 it would be.
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
