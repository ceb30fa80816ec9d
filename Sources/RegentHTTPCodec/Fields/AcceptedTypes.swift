/// The media types that a client accepts, from its `Accept` headers (RFC 9110 §12.5.1).
public struct AcceptedTypes: Sendable, Equatable {
  private struct Range: Sendable, Equatable {
    let type: MediaType
    /// The weight of the media range in thousandths, because the grammar has at most three decimals.
    let weight: Int

    var specificity: Int {
      if type.type == "*" { return 0 }
      return type.subtype == "*" ? 1 : 2 + type.parameters.count
    }

    func covers(_ offered: MediaType) -> Bool {
      (type.type == "*" || type.type == offered.type)
        && (type.subtype == "*" || type.subtype == offered.subtype)
        && type.parameters.allSatisfy(offered.parameters.contains)
    }
  }

  private let ranges: [Range]

  /// Parses the values of all `Accept` headers; nil if one breaks the grammar.
  ///
  /// Without a header, or with only empty ones, every type is accepted.
  public init?(headerValues: [String]) {
    var ranges: [Range] = []
    for line in headerValues {
      for item in HeaderList.items(line) {
        guard ranges.count < 64, let range = Self.range(item) else { return nil }
        ranges.append(range)
      }
    }
    self.ranges = ranges
  }

  /// The weight of a media type in thousandths: 0 is not acceptable, 1000 is preferred most.
  ///
  /// The most specific range of the `Accept` headers that covers the type decides, wherever it stands in the list.
  public func weight(of offered: MediaType) -> Int {
    if ranges.isEmpty { return 1000 }
    var best: Range?
    for range in ranges where range.covers(offered) {
      if let found = best, found.specificity >= range.specificity { continue }
      best = range
    }
    return best?.weight ?? 0
  }

  /// Of the offered media types the one with the highest weight, or the first of equal ones; nil if none is acceptable.
  public func preferred(among offered: [MediaType]) -> MediaType? {
    var best: (type: MediaType, weight: Int)?
    for type in offered {
      let weight = self.weight(of: type)
      if weight > best?.weight ?? 0 { best = (type, weight) }
    }
    return best?.type
  }

  /// Whether the client lists this media type itself, and not only a wildcard that covers it.
  public func names(_ type: MediaType) -> Bool {
    ranges.contains { $0.type.matches(type) && $0.weight > 0 }
  }

  private static func range(_ item: Substring) -> Range? {
    // Parameters from `q` on belong to the weight, not to the type.
    var typeParts: [Substring] = []
    var weight = 1000
    var sawWeight = false
    for part in HeaderList.parts(item) {
      if let parameter = HeaderList.parameter(part), parameter.name == "q",
        part.utf8.contains(Characters.equals)
      {
        guard !sawWeight, let value = thousandths(parameter.value) else { return nil }
        weight = value
        sawWeight = true
      } else if !sawWeight {
        typeParts.append(part)
      }
    }
    guard let type = MediaType(item: typeParts.joined(separator: ";")[...]),
      type.type != "*" || type.subtype == "*"
    else { return nil }
    return Range(type: type, weight: weight)
  }

  /// Parses a weight such as `0`, `0.5`, `0.125`, `1` or `1.000`; nil for other texts.
  private static func thousandths(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard let first = bytes.first, first == Characters.zero || first == Characters.zero + 1,
      bytes.count <= 5, bytes.count == 1 || bytes[1] == Characters.dot
    else { return nil }
    var value = Int(first - Characters.zero) * 1000
    var scale = 100
    for digit in bytes.dropFirst(2) {
      guard digit.isDigit else { return nil }
      value += Int(digit - Characters.zero) * scale
      scale /= 10
    }
    return value <= 1000 ? value : nil
  }
}
