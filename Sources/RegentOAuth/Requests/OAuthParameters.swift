package import RegentHTTPCodec

/// The parameters of a request to an OAuth endpoint.
///
/// They are read from the body only, because a query would appear in logs (RFC 6749 §2.3.1).
///
/// An empty parameter counts as missing, and unknown ones are ignored. A repeated parameter is refused even if both
/// values are equal, because a proxy in front of the service may use another one than the service. Only `resource` and
/// `audience` may repeat (RFC 8707).
package struct OAuthParameters: Sendable {
  private static let mayRepeat: Set = ["resource", "audience"]
  private let form: FormParameters

  package init(_ form: FormParameters) throws(OAuthError) {
    guard !Self.repeats(form.all) else {
      throw OAuthError(.invalidRequest, "a parameter was sent more than once: send each parameter once")
    }
    self.form = form
  }

  private static func repeats(_ all: [FormParameters.Parameter]) -> Bool {
    // A request has few parameters. Up to twelve, comparing all pairs is faster than building a set.
    guard all.count <= 12 else {
      var seen: Set<String> = []
      return all.contains { !mayRepeat.contains($0.name) && !seen.insert($0.name).inserted }
    }
    for place in all.indices.dropFirst() {
      let name = all[place].name
      for other in 0..<place where all[other].name == name && !mayRepeat.contains(name) { return true }
    }
    return false
  }

  /// The value of the parameter with this name, or `nil` if it is missing or empty.
  package subscript(name: String) -> String? {
    for parameter in form.all where parameter.isNamed(name) && !parameter.value.isEmpty { return parameter.value }
    return nil
  }

  /// All values of a parameter that may repeat.
  package func values(_ name: String) -> [String] {
    form.all.filter { $0.isNamed(name) && !$0.value.isEmpty }.map(\.value)
  }
}

extension FormParameters.Parameter {
  /// Whether the parameter has this ASCII name, byte by byte.
  ///
  /// Swift compares strings by canonical equivalence. A string that is equivalent to an ASCII name without being the
  /// same has more bytes, so the counts are compared as well.
  fileprivate func isNamed(_ name: String) -> Bool { self.name == name && self.name.utf8.count == name.utf8.count }
}
