/// The format of a response.
public enum WireFormat: String, Hashable, Sendable, CaseIterable {
  case json
  /// XML, the format for clients that express no preference.
  case xml

  public var contentType: String {
    switch self {
    case .json: "application/json;charset=utf-8"
    case .xml: "application/xml;charset=utf-8"
    }
  }

  /// Chooses the format of a response.
  ///
  /// The path's suffix has priority, then the `format` parameter, then `Accept`. An unknown `format` is ignored. A
  /// client that accepts neither format gets XML, because such a client has more use for XML than for status 406.
  ///
  /// - Parameters:
  ///   - suffix: the format that the path's suffix names.
  ///   - parameter: the `format` parameter.
  ///   - jsonWeight: the weight of JSON in `Accept`, in thousandths.
  ///   - xmlWeight: the weight of XML, in thousandths. With equal weights (`*/*`, or no header) XML is chosen.
  public init(suffix: WireFormat?, parameter: String?, jsonWeight: Int, xmlWeight: Int) {
    let named = parameter.flatMap { WireFormat(rawValue: $0.lowercased()) }
    self = suffix ?? named ?? (jsonWeight > xmlWeight ? .json : .xml)
  }

  /// Splits a path such as `/regcode.json` into the path and the format that its suffix names.
  public static func split(path: String) -> (path: String, format: WireFormat?) {
    for format in allCases where path.hasSuffix("." + format.rawValue) {
      return (String(path.dropLast(format.rawValue.count + 1)), format)
    }
    return (path, nil)
  }
}
