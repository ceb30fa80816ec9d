internal import RegentHTTPCodec

/// The reason why a route cannot be registered, which is always a mistake in the program.
public enum RouteError: Error, Hashable, Sendable, CustomStringConvertible {
  case badPattern(String, reason: String)
  case registeredTwice(method: String, pattern: String)

  /// A sentence about the error that contains the pattern.
  public var description: String {
    switch self {
    case .badPattern(let pattern, let reason): "the route pattern '\(pattern)' is wrong: \(reason)"
    case .registeredTwice(let method, let pattern):
      "\(method) '\(pattern)' matches the same requests as a route registered before: remove one"
    }
  }
}

/// The path pattern of a route.
/// - `/word`: a literal, compared byte by byte with the encoded path
/// - `/(Word)`: a literal in any case
/// - `/{name}`: captures one segment, which is decoded once
/// - `/{name...}`: at the end, captures one or more segments
/// - `[.json|.xml]` at the end: the last segment may have one of these suffixes
struct RoutePattern: Sendable {
  enum Segment: Sendable, Equatable {
    case literal([UInt8])
    case anyCase([UInt8])
    case capture(String)
    case tail(String)
  }

  let text: String
  let segments: [Segment]
  let suffixes: [String]

  var captureNames: [String] {
    segments.compactMap { segment in
      switch segment {
      case .capture(let name), .tail(let name): name
      case .literal, .anyCase: nil
      }
    }
  }

  init(_ text: String) throws(RouteError) {
    func fault(_ reason: String) -> RouteError { .badPattern(text, reason: reason) }
    var path = text[...]
    var suffixes: [String] = []
    if path.hasSuffix("]"), let open = path.firstIndex(of: "[") {
      suffixes = path[path.index(after: open)...].dropLast().split(separator: "|").map(String.init)
      path = path[..<open]
      guard !suffixes.isEmpty, suffixes.allSatisfy({ $0.hasPrefix(".") && $0.count > 1 }) else {
        throw fault("suffixes are written [.json|.xml]")
      }
    }
    guard path.hasPrefix("/") else { throw fault("it must begin with a slash") }
    let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    var segments: [Segment] = []
    for (position, part) in parts.enumerated() {
      let isLast = position == parts.count - 1
      guard let segment = Self.segment(part) else {
        throw fault("'\(part)' is neither a literal, (literal), {name} nor {name...}")
      }
      if case .tail = segment, !isLast || !suffixes.isEmpty {
        throw fault("{name...} must be the end")
      }
      if segment == .literal([]), !isLast || !suffixes.isEmpty {
        throw fault("an empty segment is only possible at the end, without suffixes")
      }
      segments.append(segment)
    }
    self.text = text
    self.segments = segments
    self.suffixes = suffixes
    let names = captureNames
    guard names.count <= RouteMatch.maximumCaptures else { throw fault("too many captures") }
    guard Set(names).count == names.count else { throw fault("a name occurs twice") }
  }

  private static func segment(_ part: Substring) -> Segment? {
    if part.hasPrefix("{"), part.hasSuffix("}") {
      let inner = part.dropFirst().dropLast()
      let isTail = inner.hasSuffix("...")
      let name = isTail ? inner.dropLast(3) : inner
      guard !name.isEmpty, name.utf8.allSatisfy(isNameCharacter) else { return nil }
      return isTail ? .tail(String(name)) : .capture(String(name))
    }
    if part.hasPrefix("("), part.hasSuffix(")") {
      let inner = part.dropFirst().dropLast()
      guard !inner.isEmpty, inner.utf8.allSatisfy(isLiteralCharacter) else { return nil }
      return .anyCase(inner.utf8.map(\.lowered))
    }
    guard part.utf8.allSatisfy(isLiteralCharacter), part != ".", part != ".." else { return nil }
    return .literal(Array(part.utf8))
  }

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == 0x5F
  }

  /// Whether a literal of a pattern may contain the byte: only unreserved characters, which have one spelling in an
  /// encoded path.
  private static func isLiteralCharacter(_ byte: UInt8) -> Bool {
    isNameCharacter(byte) || byte == 0x2D || byte == 0x2E || byte == 0x7E
  }
}
