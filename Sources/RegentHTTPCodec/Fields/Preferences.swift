/// Parses the `Prefer` header (RFC 7240).
public enum Preferences {
  /// The seconds of the preference `wait=N`, at most one day; nil if the header has no valid one.
  ///
  /// RFC 7240 lets a server ignore any preference, so a bad value is not an error. If `wait` occurs more than once,
  /// only the first counts (§2), even if it is invalid. The service lowers the result to its own limit.
  public static func wait(headerValues: [String]) -> Int? {
    value(of: "wait", headerValues).flatMap(seconds)
  }

  /// Whether the client wants the changed object in the response (`return=representation`, §4.2).
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
