/// A list of resources for which an app asks in advance whether the viewer may watch them.
///
/// The answer is for decorating lists only. Playing needs an authorization.
public struct PreauthorizationRequest: Hashable, Sendable {
  /// The number of resources that one preauthorization request may name, unless the integration sets another limit.
  public static let usualLimit = 5

  /// The resources in the order of the request.
  public let resources: [ResourceID]

  /// Parses the resource names of a request.
  ///
  /// If `names` has one element, that is a comma-separated list. If it has several, each is one name and may contain
  /// commas.
  ///
  /// Empty names are skipped. A repeated name is answered twice. A request over the limit is refused as a whole, as the
  /// protocol documents, and not answered in part.
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

/// Why a preauthorization request is refused.
public enum PreauthorizationRefusal: Error, Hashable, Sendable {
  case missing
  /// The request has more resources than the integration allows.
  case tooMany(limit: Int)
  /// A resource name is too long or has control characters.
  case unreadable
}

extension Substring {
  fileprivate var trimmingSpaces: String {
    var text = self
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
