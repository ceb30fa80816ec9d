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
    var seen: Set<String> = []
    for parameter in form.all where !Self.mayRepeat.contains(parameter.name) {
      guard seen.insert(parameter.name).inserted else {
        throw OAuthError(.invalidRequest, "a parameter is given more than once: send each once")
      }
    }
    self.form = form
  }

  /// The value of a parameter; nil when it is missing or empty.
  package subscript(name: String) -> String? {
    form.all.first { $0.name.utf8.elementsEqual(name.utf8) && !$0.value.isEmpty }?.value
  }

  /// All values of a parameter that may be said several times.
  package func values(_ name: String) -> [String] {
    form.all.filter { $0.name.utf8.elementsEqual(name.utf8) && !$0.value.isEmpty }.map(\.value)
  }
}
