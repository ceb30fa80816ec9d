package import RegentHTTPCodec

/// Parses one response from pieces of any size.
///
/// It uses no socket and no clock.
package struct ResponseReader {
  package enum Progress: Equatable { case needsMore, complete }

  package private(set) var progress = Progress.needsMore
  /// Whether at least one byte of the response has arrived, which shows that the server has received the request.
  package private(set) var hasBegun = false
  /// Whether the connection can carry another request after this response.
  package private(set) var allowsReuse = false
  /// The status of the response; valid when the response is complete.
  package private(set) var status = Status.ok
  /// The headers of the response; valid when the response is complete.
  package private(set) var headers: [ClientHeader] = []
  /// The part of the response's body that has arrived.
  package private(set) var body: [UInt8] = []

  private let method: Method
  private let bodyLimit: Int
  private var head = ResponseHead()
  private var headBytes: [UInt8] = []
  private var framing: BodyFraming?
  private var chunks = ChunkedDecoder(limit: 0)
  private var interimCount = 0

  private static let headLimits = HeadLimits(line: 8_192, fields: 32_768, count: 128)
  /// The maximum number of 1xx responses before the final one.
  ///
  /// A server that sends only these must not occupy the client.
  private static let interimLimit = 16

  /// Makes a reader for the response to one request.
  ///
  /// `bodyLimit` is the maximum length of its body in bytes.
  package init(answering method: Method, bodyLimit: Int) {
    self.method = method
    self.bodyLimit = bodyLimit
  }

  /// Parses the next bytes of the response.
  package mutating func receive(_ bytes: Span<UInt8>) throws(ClientError.Kind) {
    guard !bytes.isEmpty else { return }
    hasBegun = true
    guard progress == .needsMore else {
      // There is data after the response. The client could not tell this data from the next response, so it does not
      // use the connection again.
      allowsReuse = false
      return
    }
    guard framing == nil else { return try receiveBody(bytes, from: 0) }
    headBytes.append(span: bytes, 0..<bytes.count)
    while framing == nil {
      guard let length = try headLength() else { return }
      try takeHead(length)
    }
    let rest = headBytes
    headBytes = []
    try receiveBody(rest.span, from: 0)
  }

  /// Handles the end of the connection.
  ///
  /// Throws an error if the response is not complete.
  package mutating func end() throws(ClientError.Kind) {
    guard progress == .needsMore else { return }
    guard framing == .untilClose else { throw .connectionLost }
    finish(mayReuse: false)
  }

  private mutating func headLength() throws(ClientError.Kind) -> Int? {
    let bytes = headBytes
    do throws(MessageError) {
      return try head.parse(bytes.span, limits: ResponseReader.headLimits)
    } catch {
      throw error == .bodyTooLarge ? .tooLarge(limit: bodyLimit) : .malformed(error)
    }
  }

  private mutating func takeHead(_ length: Int) throws(ClientError.Kind) {
    if head.status.rawValue < 200 {
      interimCount += 1
      // The status 101 means a switch to another protocol, which the client never requests.
      guard head.status.rawValue != 101, interimCount <= ResponseReader.interimLimit else {
        throw .malformed(nil)
      }
      headBytes.removeFirst(length)
      head.reset()
      return
    }
    status = head.status
    headers = head.headers(in: headBytes)
    headBytes.removeFirst(length)
    let framing = head.framing(answering: method)
    self.framing = framing
    switch framing {
    case .none: break
    case .length(let length):
      guard length <= bodyLimit else { throw .tooLarge(limit: bodyLimit) }
      body.reserveCapacity(min(length, 65_536))
    case .chunked: chunks = ChunkedDecoder(limit: bodyLimit)
    case .untilClose: break
    }
  }

  private mutating func receiveBody(
    _ bytes: Span<UInt8>, from start: Int
  ) throws(ClientError.Kind) {
    switch framing {
    case nil, .some(.none):
      finish(mayReuse: bytes.isEmpty)
    case .length(let length):
      let missing = length - body.count
      body.append(span: bytes, 0..<min(missing, bytes.count))
      if body.count == length { finish(mayReuse: bytes.count <= missing) }
    case .chunked:
      let stop: Int
      do throws(MessageError) {
        stop = try chunks.decode(bytes, from: 0, into: &body)
      } catch {
        throw error == .bodyTooLarge ? .tooLarge(limit: bodyLimit) : .malformed(error)
      }
      if chunks.isComplete { finish(mayReuse: stop == bytes.count) }
    case .untilClose:
      guard bytes.count <= bodyLimit - body.count else { throw .tooLarge(limit: bodyLimit) }
      body.append(span: bytes, 0..<bytes.count)
    }
  }

  private mutating func finish(mayReuse: Bool) {
    progress = .complete
    allowsReuse = mayReuse && !head.wantsClose
  }
}

extension ResponseHead {
  /// The header fields as names and values; bytes that are not UTF-8 become U+FFFD.
  func headers(in bytes: [UInt8]) -> [ClientHeader] {
    table.fields.compactMap { field in
      guard let name = HeaderName(String(decoding: bytes[field.name.indices], as: UTF8.self)) else {
        return nil
      }
      return ClientHeader(
        name: name, value: String(decoding: bytes[field.value.indices], as: UTF8.self))
    }
  }
}

extension ClientError.Kind: Error {}
