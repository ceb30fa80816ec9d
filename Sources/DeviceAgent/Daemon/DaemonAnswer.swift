import CommandKit
import HTTPServer
import RegentHTTPCodec
import RegentJSON

/// Builds the daemon's responses.
///
/// All of them are JSON, including those of the HTTP server itself, so that programs need only one parser.
enum DaemonAnswer {
  static func document(_ status: Status, _ document: JSONValue) -> Response {
    var response = Response(status, type: "application/json", body: document.bytes())
    response.addHeader(.cacheControl, "no-store")
    return response
  }

  /// A response that refuses a malformed or forbidden request.
  static func refusal(_ status: Status, _ message: String, code: String) -> Response {
    document(status, CommandError(message, code: code, exit: .usage).document)
  }

  /// A response that the HTTP server itself sends, before a request reaches the daemon.
  static func ofServer(_ status: Status, _ sentence: String) -> Response {
    let isBusy = status == .serviceUnavailable
    let message = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    return refusal(status, message, code: isBusy ? "busy" : "malformed")
  }
}
