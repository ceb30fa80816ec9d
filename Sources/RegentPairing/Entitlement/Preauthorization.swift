/// A list of resources that an app asks about before it shows them.
///
/// Only for decorating lists: nothing that plays may stand on it.
public struct PreauthorizationRequest: Hashable, Sendable {
  /// How many an app may ask about when nobody said otherwise.
  public static let usualLimit = 5

  /// The resources, in the order asked.
  public let resources: [ResourceID]

  /// Reads the names of the protocol, up to a limit: one text is a list with commas, of several each is a name as it
  /// is, with whatever commas it has.
  ///
  /// Empty places are skipped; a name that is there twice is answered twice. Over the limit the whole request is
  /// refused, as the documentation says, instead of being answered in part.
  public init(names: [String], limit: Int) throws(PreauthorizationRefusal) {
    let isList = names.count == 1
    let parts = isList ? names[0].split(separator: ",").map(\.trimmingSpaces) : names
    var resources: [ResourceID] = []
    for name in parts where !name.isEmpty {
      guard resources.count < limit else { throw .tooMany(limit: limit) }
      guard let resource = ResourceID(name) else { throw .unreadable }
      resources.append(resource)
    }
    guard !resources.isEmpty else { throw .missing }
    self.resources = resources
  }
}

/// Why a preauthorization is not answered.
public enum PreauthorizationRefusal: Error, Hashable, Sendable {
  /// No resource was named.
  case missing
  /// More than the integration allows.
  case tooMany(limit: Int)
  /// A name that is too long or has control characters.
  case unreadable
}

extension Substring {
  /// The text without spaces at its ends.
  fileprivate var trimmingSpaces: String {
    var text = self
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
