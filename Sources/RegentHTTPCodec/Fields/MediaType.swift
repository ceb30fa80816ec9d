/// A media type (RFC 9110 §8.3.1), such as `application/json; charset=utf-8`.
public struct MediaType: Sendable, Hashable, CustomStringConvertible {
  /// The part of the media type before the slash, in lower case.
  public let type: String
  /// The part of the media type after the slash, in lower case.
  public let subtype: String
  /// The parameters of the media type in the order in which they were written.
  public let parameters: [Parameter]

  public struct Parameter: Sendable, Hashable {
    public let name: String
    public let value: String
  }

  public static let json = MediaType("application", "json")
  public static let xml = MediaType("application", "xml")
  public static let html = MediaType("text", "html")
  public static let plainText = MediaType("text", "plain")
  public static let form = MediaType("application", "x-www-form-urlencoded")

  /// Makes a media type without parameters from constants, which are not checked.
  public init(_ type: String, _ subtype: String) {
    self.type = Characters.lowercased(type)
    self.subtype = Characters.lowercased(subtype)
    parameters = []
  }

  /// Parses the value of a `Content-Type` header; nil if it breaks the grammar or repeats a parameter.
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

  /// Whether both media types have the same type and subtype.
  ///
  /// Parameters are ignored.
  public func matches(_ other: MediaType) -> Bool {
    type == other.type && subtype == other.subtype
  }

  /// The value of a parameter of the media type.
  ///
  /// `name` must be in lower case.
  public func parameter(_ name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }

  /// The type and subtype, without parameters.
  public var description: String { "\(type)/\(subtype)" }
}
