/// Why a message was refused.
///
/// Each of these errors closes the connection, because the start of the next message is unknown.
public enum MessageError: Error, Sendable, Hashable, CaseIterable {
  // Errors in the request line and its target.
  case requestLine
  case target
  case targetTooLong
  case method
  case version

  // Errors in the status line of a response.
  case statusLine

  // Errors in the form of the header fields.
  case fieldName
  case fieldValue
  case lineEnding
  case foldedLine
  case tooManyFields
  case fieldsTooLarge

  // Errors in the contents of the header fields.
  case missingHost
  case repeatedHost
  case host
  case contentLength
  case repeatedContentLength
  case contentLengthAndTransferEncoding
  case transferEncoding
  case transferCoding
  case repeatedTransferEncoding
  case transferEncodingInOldVersion
  case expectation

  // Errors in the body.
  case bodyTooLarge
  case chunkSize
  case chunkExtension
  case chunkEnding
  case trailer
}

extension MessageError {
  /// The HTTP status with which a server responds to a refused message.
  public var status: Status {
    switch self {
    case .targetTooLong: .uriTooLong
    case .method, .transferCoding: .notImplemented
    case .version: .versionNotSupported
    case .tooManyFields, .fieldsTooLarge: .headerFieldsTooLarge
    case .expectation: .expectationFailed
    case .bodyTooLarge: .contentTooLarge
    default: .badRequest
    }
  }
}

extension MessageError: CustomStringConvertible {
  /// A sentence about the error for the sender.
  ///
  /// It contains no part of the message.
  public var description: String {
    switch self {
    case .requestLine: "The request line is not METHOD SP TARGET SP HTTP/1.1."
    case .target: "The request target is not a valid path, URL or *."
    case .targetTooLong: "The request line is too long."
    case .method: "The method is not supported."
    case .version: "Only HTTP/1.0 and HTTP/1.1 are supported."
    case .statusLine: "The status line is not HTTP/1.1 SP CODE SP REASON."
    case .fieldName: "A header field name is not a token followed at once by a colon."
    case .fieldValue: "A header field value has a control character."
    case .lineEnding: "A line does not end with CR LF."
    case .foldedLine: "A header line starts with a space: folded lines are refused."
    case .tooManyFields: "There are too many header fields."
    case .fieldsTooLarge: "The header fields are too large."
    case .missingHost: "The Host header is missing."
    case .repeatedHost: "There is more than one Host header."
    case .host: "The Host header or the URL's authority is not HOST or HOST:PORT."
    case .contentLength: "Content-Length is not a decimal number."
    case .repeatedContentLength: "There is more than one Content-Length."
    case .contentLengthAndTransferEncoding:
      "Content-Length and Transfer-Encoding exclude each other."
    case .transferEncoding: "Transfer-Encoding does not end with chunked."
    case .transferCoding: "The only transfer coding supported is chunked."
    case .repeatedTransferEncoding: "There is more than one Transfer-Encoding."
    case .transferEncodingInOldVersion: "HTTP/1.0 has no Transfer-Encoding."
    case .expectation: "The only expectation supported is 100-continue."
    case .bodyTooLarge: "The body is too large."
    case .chunkSize: "A chunk size is not a hexadecimal number."
    case .chunkExtension: "A chunk extension is malformed or too long."
    case .chunkEnding: "A chunk does not end with CR LF."
    case .trailer: "The trailer section is malformed or too large."
    }
  }
}
