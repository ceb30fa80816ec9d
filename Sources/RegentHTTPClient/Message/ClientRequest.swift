public import RegentHTTPCodec

/// What to do with a redirect.
public enum RedirectPolicy: Hashable, Sendable {
  /// The redirect is the answer: nothing else is called.
  case give
  /// Go where it points, at most so many times, and never to another scheme.
  ///
  /// On the way to another host, credentials (Authorization, Cookie) stay behind and a body is not repeated.
  case follow(atMost: Int)
}

/// One call: method, URL, headers, body, and how long and how much its answer may take.
public struct ClientRequest: Sendable {
  public var method: Method
  public var url: ClientURL
  /// The body; empty means none.
  public var body: [UInt8]
  /// How long the call may take in all: looking up, connecting, sending, waiting, receiving, redirects.
  public var deadline = Duration.seconds(30)
  /// The most bytes the answer's body may have.
  public var responseLimit = 1 << 20
  /// Whether it has a connection of its own, and so is sent once: what goes over a kept one is sent again, as it is,
  /// when that had died.
  public var usesNewConnection = false
  /// What to do with redirects.
  public var redirects = RedirectPolicy.give
  /// The headers in the order they were added.
  public private(set) var headers: [ClientHeader] = []

  /// A call.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - url: where to.
  ///   - body: the body; its type is a header that you add.
  public init(_ method: Method, _ url: ClientURL, body: [UInt8] = []) {
    self.method = method
    self.url = url
    self.body = body
  }

  /// Adds a header.
  ///
  /// Host, Connection, Content-Length, Transfer-Encoding and the like belong to the client: a call that sets them, or a
  /// value with a control character (which could begin another header), fails with `.invalidRequest` when it is sent.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - value: the value.
  public mutating func addHeader(_ name: HeaderName, _ value: String) {
    headers.append(ClientHeader(name: name, value: value))
  }

  mutating func removeHeaders(_ names: [HeaderName]) {
    headers.removeAll { names.contains($0.name) }
  }
}

/// A header line.
public struct ClientHeader: Hashable, Sendable {
  public let name: HeaderName
  /// The value, without white space around it.
  public let value: String
}

extension ClientRequest {
  /// Refuses what cannot be sent as one well-formed request.
  func check() throws(ClientError) {
    guard method != .connect, method != .trace else {
      throw ClientError.invalid("the method \(method) is not for clients of this kind", url.origin)
    }
    for header in headers {
      guard !ClientRequest.ownHeaders.contains(header.name) else {
        throw ClientError.invalid("the header \(header.name) is the client's to set", url.origin)
      }
      guard header.value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }) else {
        throw ClientError.invalid(
          "the value of the header \(header.name) holds a control character", url.origin)
      }
    }
  }

  /// Whether doing it twice is the same as doing it once, so that it may be repeated when a connection was lost.
  var isIdempotent: Bool {
    switch method {
    case .get, .head, .put, .delete, .options, .query: true
    case .post, .patch, .trace, .connect: false
    }
  }

  /// The Content-Length to say; `nil` when the method has no body by nature and there is none.
  var announcedLength: Int? {
    switch method {
    case .post, .put, .patch: body.count
    default: body.isEmpty ? nil : body.count
    }
  }

  /// The request in the form of RFC 9112.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256 + body.count)
    bytes += "\(method.token) \(url.target) HTTP/1.1\r\nHost: \(url.origin.authority)\r\n".utf8
    for header in headers { bytes += "\(header.name.text): \(header.value)\r\n".utf8 }
    if let announcedLength { bytes += "Content-Length: \(announcedLength)\r\n".utf8 }
    bytes += "\r\n".utf8
    bytes += body
    return bytes
  }

  // Not a set: making the type of one costs a command that ends at once as much as ten thousand of these comparisons.
  private static let ownHeaders: [HeaderName] = [
    .host, .connection, .contentLength, .transferEncoding, .expect,
    HeaderName(literal: "TE"), HeaderName(literal: "Trailer"), HeaderName(literal: "Upgrade"),
    HeaderName(literal: "Keep-Alive"), HeaderName(literal: "Proxy-Connection"),
  ]
}
