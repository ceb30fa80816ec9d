/// A media type (RFC 9110 §8.3.1), such as `application/json; charset=utf-8`.
public struct MediaType: Sendable, Hashable, CustomStringConvertible {
  /// The part before the slash, in lower case.
  public let type: String
  /// The part after the slash, in lower case.
  public let subtype: String
  /// The parameters, names in lower case, in the order written.
  public let parameters: [Parameter]

  /// One parameter of a media type.
  public struct Parameter: Sendable, Hashable {
    /// The name in lower case.
    public let name: String
    /// The value, without quotes.
    public let value: String
  }

  /// `application/json`.
  public static let json = MediaType("application", "json")
  /// `application/xml`.
  public static let xml = MediaType("application", "xml")
  /// `text/html`.
  public static let html = MediaType("text", "html")
  public static let plainText = MediaType("text", "plain")
  /// `application/x-www-form-urlencoded`.
  public static let form = MediaType("application", "x-www-form-urlencoded")

  /// A media type known when the program was written.
  public init(_ type: String, _ subtype: String) {
    self.type = Characters.lowercased(type)
    self.subtype = Characters.lowercased(subtype)
    parameters = []
  }

  /// Reads the value of a `Content-Type` header; nil when it breaks the grammar or names a parameter twice.
  public init?(parsing text: String) {
    guard let parsed = MediaType(item: text[...]), parsed.type != "*", parsed.subtype != "*"
    else { return nil }
    self = parsed
  }

  init?(item: Substring) {
    var parts = HeaderList.parts(item)
    let name = parts.removeFirst()
    guard let slash = name.utf8.firstIndex(of: Characters.slash) else { return nil }
    let type = name[..<slash]
    let subtype = name[name.utf8.index(after: slash)...]
    guard HeaderList.isToken(type), HeaderList.isToken(subtype) else { return nil }
    var parameters: [Parameter] = []
    for part in parts where !part.isEmpty {
      guard let parameter = HeaderList.parameter(part), !parameter.value.isEmpty,
        !parameters.contains(where: { $0.name == parameter.name })
      else { return nil }
      parameters.append(Parameter(name: parameter.name, value: parameter.value))
    }
    self.type = Characters.lowercased(type)
    self.subtype = Characters.lowercased(subtype)
    self.parameters = parameters
  }

  /// Whether type and subtype are the same; parameters do not count.
  public func matches(_ other: MediaType) -> Bool {
    type == other.type && subtype == other.subtype
  }

  /// The value of a parameter, asked for in lower case.
  public func parameter(_ name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }

  /// The type and subtype without parameters.
  public var description: String { "\(type)/\(subtype)" }
}
