internal import HTTPServer
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentPairing
internal import RegentPairingWire
internal import RegentPlatform
internal import TestSupport

// The calls of boxes and operators. They are built and signed before the measurement begins.

/// A call in two forms: as a request for a handler, and as bytes for a socket.
struct Call: Sendable {
  let request: Request
  let bytes: [UInt8]

  init(_ head: String, _ body: String = "", isLocal: Bool = false) throws {
    bytes = Array((head + body).utf8)
    let peer: Peer =
      isLocal ? .local(HTTPServer.Credentials(process: 1, user: 0, group: 0)) : .network(.loopback, port: 1)
    request = try Request(head: Array(head.utf8), body: Array(body.utf8), peer: peer)
  }
}

/// Signs calls of the sample requestor, each with a new nonce.
struct Signer {
  private let key: HMACKey
  private let requestor: RequestorID
  private let publicKey: PublicKey
  let prefix: String
  private var number = 0

  static let poll = "/api/v1/tokens/authn"
  static let code = "/reggie/v1/\(Sample.requestor)/regcode"

  init() throws {
    key = try HMACKey(.sha256, Secret(Sample.secret))
    requestor = try name(Sample.requestor)
    publicKey = try name(Sample.publicKey)
    prefix = Random.uuid()
  }

  private mutating func call(_ method: String, _ path: String, _ query: String, _ more: String = "") throws -> Call {
    number += 1
    let text = SignedHeader.textToSign(
      method: method, requestor: requestor, nonce: "\(prefix)-\(number)", signatureMethod: .hmacSHA256,
      requestTime: Instant(milliseconds: Clocks.wallMilliseconds()), requestURI: path)
    let proof = SignedHeader.header(textToSign: text, publicKey: publicKey, signature: key.code(text))
    return try Call(
      "\(method) \(path)?\(query) HTTP/1.1\r\nHost: tv\r\nAccept: application/json\r\n\(more)Authorization: \(proof)\r\n\r\n"
    )
  }

  mutating func code(_ device: String) throws -> Call {
    try call("POST", Self.code, "deviceId=\(device)&ttl=36000", "Content-Length: 0\r\n")
  }

  mutating func poll(_ device: String) throws -> Call { try call("GET", Self.poll, "deviceId=\(device)") }

  mutating func hold(_ device: String, _ seconds: Int = 50) throws -> Call {
    try call("GET", Self.poll, "deviceId=\(device)", "Prefer: wait=\(seconds)\r\n")
  }

  /// The call with which an operator approves a code.
  static func approval(_ code: String) throws -> Call {
    let body = "{\"provider\":\"\(Sample.provider)\",\"account\":\"\(Sample.account)\"}"
    return try Call(
      "POST /v1/codes/\(code)/approve HTTP/1.1\r\nHost: regent\r\nContent-Type: application/json\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n", body, isLocal: true)
  }

  /// The code in the body of a response, or nil if there is none.
  static func code(in body: [UInt8]) -> String? {
    guard let mark = body.firstRange(of: Array("\"code\":\"".utf8)) else { return nil }
    return String(decoding: body[mark.upperBound...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
  }
}

/// The response to a call.
struct Reply: Sendable {
  let status: UInt16
  let body: [UInt8]
}

/// A connection of a box or an operator, real or simulated; its calls are sent one after another.
protocol Line: AnyObject, Sendable {
  /// Sends a call; `done` is called once, on any thread.
  func send(_ call: Call, _ done: @escaping @Sendable (Reply) -> Void)
}

/// One or more nodes that are called with or without sockets.
protocol Cluster: AnyObject {
  var count: Int { get }
  /// A connection of a box to a node.
  func line(to node: Int) throws -> any Line
  /// A connection to the admin socket of a node.
  func operatorLine(to node: Int) throws -> any Line
  /// Lets calls and responses proceed until the given time.
  func turn(until time: Double) throws
  /// The seconds of processor time that all nodes together have used.
  func processors() throws -> Double
}
