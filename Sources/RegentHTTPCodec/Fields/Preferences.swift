/// The `Prefer` header (RFC 7240), as far as it is understood here.
public enum Preferences {
  /// The whole seconds of `wait=N`; nil when it is not asked for or not readable.
  ///
  /// A preference may always be ignored, so nothing here is an error. Named twice, only the first counts (§2), even
  /// when it is unreadable. Numbers beyond a day are cut to a day: the service lowers them further.
  public static func wait(headerValues: [String]) -> Int? {
    value(of: "wait", headerValues).flatMap(seconds)
  }

  /// Whether the caller would like to have what its change made, and not only hear that it was made (§4.2).
  public static func wantsRepresentation(headerValues: [String]) -> Bool {
    value(of: "return", headerValues) == "representation"
  }

  private static func value(of name: String, _ headerValues: [String]) -> String? {
    for line in headerValues {
      for item in HeaderList.items(line) {
        guard let preference = HeaderList.parameter(HeaderList.parts(item)[0]) else { continue }
        if preference.name == name { return preference.value }
      }
    }
    return nil
  }

  private static func seconds(_ text: String) -> Int? {
    guard !text.isEmpty, text.utf8.count <= 20, text.utf8.allSatisfy(\.isDigit)
    else { return nil }
    return min(Int(text) ?? Int.max, 86_400)
  }
}
