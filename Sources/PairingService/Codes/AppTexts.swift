internal import RegentJSON
internal import RegentPairingWire

/// Texts that an app sends besides the parameters of the protocol, by names that the app chooses.
///
/// They are stored with the code and its sign-in and shown in reports; they decide nothing. An app may send anything,
/// so the texts are kept short and on one line.
enum AppTexts {
  /// The longest text that is read from an app, in bytes.
  static let longest = 2048
  static let mostMembers = 16

  /// Normalizes a JSON object of strings, numbers and booleans: sorts the names and cleans the strings.
  ///
  /// - Returns: nil for anything else, or for a text that is too long or has too many members.
  static func normalized(_ given: String) -> String? {
    guard given.utf8.count <= longest,
      let object = (try? JSONValue(reading: Array(given.utf8), limits: JSONLimits(depth: 2, bytes: longest)))?.object,
      object.members.count <= mostMembers
    else { return nil }
    var members: [JSONObject.Member] = []
    for member in object.members {
      guard let name = CleanText.line(member.name) else { return nil }
      switch member.value {
      case .string(let text): members.append(.init(name, .string(CleanText.line(text, longest: longest) ?? "")))
      case .array, .object: return nil
      default: members.append(.init(name, member.value))
      }
    }
    return String(decoding: JSONObject(members.sorted { $0.name < $1.name }).bytes(), as: UTF8.self)
  }

  /// Normalizes request parameters as a JSON object of strings; nil when there are too many.
  ///
  /// Too many parameters are no error, because apps in the field send many different ones.
  static func normalized(_ parameters: [(name: String, value: String)]) -> String? {
    guard !parameters.isEmpty, parameters.count <= mostMembers else { return nil }
    let members = parameters.sorted { $0.name < $1.name }.map { JSONObject.Member($0.name, .string($0.value)) }
    return normalized(String(decoding: JSONObject(members).bytes(), as: UTF8.self))
  }
}
