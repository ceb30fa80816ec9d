import RegentJSON

/// A program's request to authorize a resource.
///
/// Identical simultaneous requests share one call to the service.
struct AuthorizeQuestion: Hashable, Sendable {
  var resource: String
  /// Additional data for the provider, as the app publisher agreed with it.
  var data: [String: String] = [:]
}

extension AuthorizeQuestion {
  /// Reads the body of a request.
  ///
  /// Returns `nil` if it names no resource, or if its data is not an object of texts.
  init?(_ document: JSONObject) {
    guard let resource = document["resource"]?.string else { return nil }
    self.init(resource: resource)
    guard let given = document["data"] else { return }
    guard let members = given.object?.members else { return nil }
    for member in members {
      guard let text = member.value.string else { return nil }
      data[member.name] = text
    }
  }

  var document: JSONObject {
    var document: JSONObject = ["resource": .string(resource)]
    if !data.isEmpty {
      document["data"] = .object(JSONObject(data.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }))
    }
    return document
  }
}
