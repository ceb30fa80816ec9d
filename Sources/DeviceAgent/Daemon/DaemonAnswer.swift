import CommandKit
import HTTPServer
import RegentHTTPCodec
import RegentJSON

/// The form of every answer on the daemon's socket, those of the server below it among them: programs read one
/// language.
enum DaemonAnswer {
  static func document(_ status: Status, _ document: JSONValue) -> Response {
    var response = Response(status, type: "application/json", body: document.bytes())
    response.addHeader(.cacheControl, "no-store")
    return response
  }

  /// What was not asked rightly.
  static func refusal(_ status: Status, _ message: String, code: String) -> Response {
    document(status, CommandError(message, code: code, exit: .usage).document)
  }

  /// What the server says before anybody was asked.
  static func ofServer(_ status: Status, _ sentence: String) -> Response {
    let isBusy = status == .serviceUnavailable
    let message = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    return refusal(status, message, code: isBusy ? "busy" : "malformed")
  }
}
