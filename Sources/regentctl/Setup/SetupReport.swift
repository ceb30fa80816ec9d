import CommandKit
import RegentJSON

/// The output of `regentctl setup`: lines for people as it goes, or one JSON document at the end.
final class SetupReport {
  let call: Invocation
  private var document: JSONObject = [:]

  init(_ call: Invocation) { self.call = call }

  /// Adds the result of one step.
  func add(_ step: String, _ result: JSONValue, lines: [String]) {
    document[step] = result
    if !call.wantsJSON { call.console.print(lines: lines) }
  }

  /// Prints the JSON document of the completed steps.
  ///
  /// Also called after an error, because the secret of a key pair is shown only once.
  func end() {
    if call.wantsJSON { call.console.print(json: .object(document)) }
  }
}
