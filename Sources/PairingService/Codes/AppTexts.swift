internal import RegentJSON
internal import RegentPairingWire

/// What an app says besides the protocol's parameters: texts by names that mean something to whoever made the app.
///
/// They are kept with the code and its sign-in and shown in reports; nothing is decided by them. Anything may stand in
/// them, so they are kept short and on one line.
enum AppTexts {
  /// The longest that is read, in bytes.
  static let longest = 2048
  static let mostMembers = 16

  /// A JSON object of texts, numbers and truth values in one form: names in order, texts cleaned.
  ///
  /// - Returns: none for what is no such object, too long or too much.
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

  /// The same, of parameters; what is too much is left out, because public clients send all sorts of things.
  static func normalized(_ parameters: [(name: String, value: String)]) -> String? {
    guard !parameters.isEmpty, parameters.count <= mostMembers else { return nil }
    let members = parameters.sorted { $0.name < $1.name }.map { JSONObject.Member($0.name, .string($0.value)) }
    return normalized(String(decoding: JSONObject(members).bytes(), as: UTF8.self))
  }
}
