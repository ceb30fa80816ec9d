public import RegentHTTPCodec

/// How a call handles redirects.
public enum RedirectPolicy: Hashable, Sendable {
  /// Does not follow a redirect, but returns it as the response.
  case give
  /// Follows at most this number of redirects, never to another scheme.
  ///
  /// When a redirect leads to another host, the credentials (Authorization, Cookie) are dropped. A request with a body
  /// then fails.
  case follow(atMost: Int)
}

/// A request: method, URL, headers and body, with its limits of time and size.
public struct ClientRequest: Sendable {
  public var method: Method
  public var url: ClientURL
  /// The body of the request; empty for none.
  public var body: [UInt8]
  /// The time limit of the whole call: lookup, connecting, sending, waiting, receiving and redirects.
  public var deadline = Duration.seconds(30)
  /// The maximum length of the response's body in bytes.
  public var responseLimit = 1 << 20
  /// Whether the call uses a new connection and is therefore sent only once.
  ///
  /// On a kept connection that turns out to be closed, the client would send the identical request again.
  public var usesNewConnection = false
  /// How the call handles redirects.
  public var redirects = RedirectPolicy.give
  /// The headers in the order in which they were added.
  public private(set) var headers: [ClientHeader] = []

  /// Makes a request; add the type of the body as a header.
  public init(_ method: Method, _ url: ClientURL, body: [UInt8] = []) {
    self.method = method
    self.url = url
    self.body = body
  }

  /// Adds a header.
  ///
  /// The client sets Host, Connection, Content-Length, Transfer-Encoding and similar headers itself. A request that has
  /// one of them, or a value with a control character (which could start another header), fails with `.invalidRequest`
  /// when it is sent.
  public mutating func addHeader(_ name: HeaderName, _ value: String) {
    headers.append(ClientHeader(name: name, value: value))
  }

  mutating func removeHeaders(_ names: [HeaderName]) {
    headers.removeAll { names.contains($0.name) }
  }
}

public struct ClientHeader: Hashable, Sendable {
  public let name: HeaderName
  /// The value of the header, without white space around it.
  public let value: String
}

extension ClientRequest {
  /// Throws an error unless the request can be sent as one well-formed HTTP request.
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

  /// Whether sending the request twice has the same effect as once, so that the client may repeat it after a lost
  /// connection.
  var isIdempotent: Bool {
    switch method {
    case .get, .head, .put, .delete, .options, .query: true
    case .post, .patch, .trace, .connect: false
    }
  }

  /// The value of Content-Length; nil if the request has no body and its method does not need the header.
  var announcedLength: Int? {
    switch method {
    case .post, .put, .patch: body.count
    default: body.isEmpty ? nil : body.count
    }
  }

  /// The request as HTTP/1.1 bytes (RFC 9112).
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

  // An array, because creating the type `Set<HeaderName>` at run time takes as long as ten thousand of these
  // comparisons, which short commands would pay.
  private static let ownHeaders: [HeaderName] = [
    .host, .connection, .contentLength, .transferEncoding, .expect,
    HeaderName(literal: "TE"), HeaderName(literal: "Trailer"), HeaderName(literal: "Upgrade"),
    HeaderName(literal: "Keep-Alive"), HeaderName(literal: "Proxy-Connection"),
  ]
}
