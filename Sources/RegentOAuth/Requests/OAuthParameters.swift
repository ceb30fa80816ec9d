package import RegentHTTPCodec

/// The parameters of a request to one of the endpoints: of its body alone, never of its address, where they would stand
/// in logs (RFC 6749 §2.3.1).
///
/// Empty is missing, unknown is ignored, and what is said twice is refused, even when it is the same twice: whoever
/// stands in front of us may have read the other one. Only what RFC 8707 lets a client say several times may be.
package struct OAuthParameters: Sendable {
  private static let mayRepeat: Set = ["resource", "audience"]
  private let form: FormParameters

  package init(_ form: FormParameters) throws(OAuthError) {
    guard !Self.repeats(form.all) else {
      throw OAuthError(.invalidRequest, "a parameter is given more than once: send each once")
    }
    self.form = form
  }

  private static func repeats(_ all: [FormParameters.Parameter]) -> Bool {
    // A request has a handful: looking at each pair costs less than a set of them, and beyond that it does not.
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

  /// The value of a parameter; nil when it is missing or empty.
  package subscript(name: String) -> String? {
    for parameter in form.all where parameter.isNamed(name) && !parameter.value.isEmpty { return parameter.value }
    return nil
  }

  /// All values of a parameter that may be said several times.
  package func values(_ name: String) -> [String] {
    form.all.filter { $0.isNamed(name) && !$0.value.isEmpty }.map(\.value)
  }
}

extension FormParameters.Parameter {
  /// Whether it has this name, byte by byte; the name is one of ours, in ASCII.
  ///
  /// Swift's texts are equal when they look the same, but whatever looks like a letter of ASCII has more bytes.
  fileprivate func isNamed(_ name: String) -> Bool { self.name == name && self.name.utf8.count == name.utf8.count }
}
