import CommandKit
import RegentJSON

/// What `regentctl setup` says: people read it line by line, programs as one document in the end.
final class SetupReport {
  let call: Invocation
  private var document: JSONObject = [:]

  init(_ call: Invocation) { self.call = call }

  /// Says what became of one step.
  func add(_ step: String, _ result: JSONValue, lines: [String]) {
    document[step] = result
    if !call.wantsJSON { call.console.print(lines: lines) }
  }

  /// Writes the document of the steps that were done.
  ///
  /// When a later step fails, too: the secret of a key pair is shown once.
  func end() {
    if call.wantsJSON { call.console.print(json: .object(document)) }
  }
}
