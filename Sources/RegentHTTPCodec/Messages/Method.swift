/// The supported request methods; the server answers others with 501.
public enum Method: UInt8, Sendable, Hashable, CaseIterable {
  case get, head, post, put, patch, delete, options, query, trace, connect

  /// The method with exactly this name, which is case-sensitive; nil if it is not supported.
  public init?(_ token: String) {
    guard let known = Method.allCases.first(where: { $0.token == token }) else { return nil }
    self = known
  }

  /// The name of the method in a request.
  public var token: String {
    switch self {
    case .get: "GET"
    case .head: "HEAD"
    case .post: "POST"
    case .put: "PUT"
    case .patch: "PATCH"
    case .delete: "DELETE"
    case .options: "OPTIONS"
    case .query: "QUERY"
    case .trace: "TRACE"
    case .connect: "CONNECT"
    }
  }

  /// The length of the longest method name in bytes.
  static let longestToken = 7

  /// The method whose name, read as a big-endian number, is `packed`.
  ///
  /// The parser collects up to seven bytes in a number, so that it finds the method with one comparison.
  init?(packed: UInt64) {
    switch packed {
    case 0x47_4554: self = .get
    case 0x4845_4144: self = .head
    case 0x504F_5354: self = .post
    case 0x50_5554: self = .put
    case 0x50_4154_4348: self = .patch
    case 0x4445_4C45_5445: self = .delete
    case 0x4F_5054_494F_4E53: self = .options
    case 0x51_5545_5259: self = .query
    case 0x54_5241_4345: self = .trace
    case 0x43_4F4E_4E45_4354: self = .connect
    default: return nil
    }
  }
}

extension Method: CustomStringConvertible {
  public var description: String { token }
}
