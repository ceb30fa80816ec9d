/// In which form an answer is written.
public enum WireFormat: String, Hashable, Sendable, CaseIterable {
  /// JSON.
  case json
  /// XML: what clients get that ask for nothing.
  case xml

  /// The `Content-Type` of an answer in this form.
  public var contentType: String {
    switch self {
    case .json: "application/json;charset=utf-8"
    case .xml: "application/xml;charset=utf-8"
    }
  }

  /// Chooses the form of an answer.
  ///
  /// What was asked for most clearly counts: the path's suffix, then the `format` parameter, then `Accept`. A parameter
  /// that names no form is as good as none. Whoever accepts neither form gets XML: an answer in another form than hoped
  /// for still says more than a 406.
  ///
  /// - Parameters:
  ///   - suffix: the form that the path's suffix names.
  ///   - parameter: the `format` parameter.
  ///   - jsonWeight: how much `Accept` wants JSON, in thousandths.
  ///   - xmlWeight: how much it wants XML, in thousandths; with equal weights (`*/*`, no header) XML is chosen.
  public init(suffix: WireFormat?, parameter: String?, jsonWeight: Int, xmlWeight: Int) {
    let named = parameter.flatMap { WireFormat(rawValue: $0.lowercased()) }
    self = suffix ?? named ?? (jsonWeight > xmlWeight ? .json : .xml)
  }

  /// Splits a path into what it names and the form that its suffix asks for: `/regcode.json`.
  public static func split(path: String) -> (path: String, format: WireFormat?) {
    for format in allCases where path.hasSuffix("." + format.rawValue) {
      return (String(path.dropLast(format.rawValue.count + 1)), format)
    }
    return (path, nil)
  }
}
