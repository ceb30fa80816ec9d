internal import RegentHTTPCodec

/// The endpoint of the route that matches a path, and the positions of its captures in the encoded path.
struct RouteMatch {
  static let maximumCaptures = 8

  var endpoint = 0
  var captureCount = 0
  /// The start and the end of each capture in the path, in pairs.
  var bounds = InlineArray<16, Int32>(repeating: 0)

  mutating func push(_ range: Range<Int>) {
    bounds[captureCount * 2] = Int32(truncatingIfNeeded: range.lowerBound)
    bounds[captureCount * 2 + 1] = Int32(truncatingIfNeeded: range.upperBound)
    captureCount += 1
  }

  mutating func pop() { captureCount -= 1 }

  func range(_ index: Int) -> Range<Int> {
    Int(bounds[index * 2])..<Int(bounds[index * 2 + 1])
  }
}

/// All route patterns as a tree of path segments, built at start and immutable afterwards.
///
/// Matching reads the encoded bytes and allocates nothing. For each segment it tries literals first, then captures with
/// a suffix, then captures without, then a tail. If a branch has no endpoint, it tries the next.
struct RouteTree: Sendable {
  private struct Literal: Sendable {
    let bytes: [UInt8]
    let ignoresCase: Bool
    let next: Int
  }

  private struct Node: Sendable {
    var literals: [Literal] = []
    /// The captures whose segment must end with a suffix, the longest suffix first.
    var suffixedCaptures: [(suffix: [UInt8], next: Int)] = []
    var capture: Int?
    var tail: Int?
    var endpoint: Int?
  }

  private var nodes = [Node()]

  /// The number of endpoints, which are numbered from zero.
  private(set) var endpointCount = 0

  /// Adds a pattern.
  ///
  /// Returns the endpoint for each of its suffixes (nil for none); the endpoint may exist already.
  mutating func add(_ pattern: RoutePattern) -> [(suffix: String?, endpoint: Int)] {
    var node = 0
    for segment in pattern.segments.dropLast() { node = step(from: node, segment, suffix: "") }
    guard let last = pattern.segments.last else { return [] }
    var found: [(suffix: String?, endpoint: Int)] = []
    for suffix in [""] + pattern.suffixes {
      let end = step(from: node, last, suffix: suffix)
      let endpoint = nodes[end].endpoint ?? endpointCount
      if endpoint == endpointCount {
        nodes[end].endpoint = endpoint
        endpointCount += 1
      }
      found.append((suffix.isEmpty ? nil : suffix, endpoint))
    }
    return found
  }

  /// Calls `accept` with each endpoint that matches the path, the best first, until it returns true.
  func match(_ path: Span<UInt8>, accept: (RouteMatch) -> Bool) -> Bool {
    guard !path.isEmpty, path[0] == 0x2F else { return false }
    var match = RouteMatch()
    return walk(0, path, 1, &match, accept)
  }

  private func walk(
    _ index: Int, _ path: Span<UInt8>, _ start: Int, _ match: inout RouteMatch,
    _ accept: (RouteMatch) -> Bool
  ) -> Bool {
    var end = start
    while end < path.count, path[end] != 0x2F { end += 1 }
    let segment = start..<end
    let isLast = end == path.count

    func go(to next: Int, _ match: inout RouteMatch) -> Bool {
      guard isLast else { return walk(next, path, end + 1, &match, accept) }
      guard let endpoint = nodes[next].endpoint else { return false }
      match.endpoint = endpoint
      return accept(match)
    }

    for literal in nodes[index].literals where Self.equal(literal, path, segment) {
      if go(to: literal.next, &match) { return true }
    }
    // A capture is never empty: `/a/` does not match `/a/{name}`.
    guard !segment.isEmpty else { return false }
    for (suffix, next) in nodes[index].suffixedCaptures
    where isLast && Self.hasSuffix(path, segment, suffix) {
      match.push(start..<(end - suffix.count))
      if go(to: next, &match) { return true }
      match.pop()
    }
    if let next = nodes[index].capture {
      match.push(segment)
      if go(to: next, &match) { return true }
      match.pop()
    }
    if let next = nodes[index].tail, path[path.count - 1] != 0x2F,
      let endpoint = nodes[next].endpoint
    {
      match.push(start..<path.count)
      match.endpoint = endpoint
      if accept(match) { return true }
      match.pop()
    }
    return false
  }

  private mutating func step(
    from node: Int, _ segment: RoutePattern.Segment, suffix: String
  ) -> Int {
    switch segment {
    case .literal(let bytes):
      return literal(from: node, bytes + Array(suffix.utf8), ignoresCase: false)
    case .anyCase(let bytes):
      let folded = bytes + suffix.utf8.map(\.lowered)
      return literal(from: node, folded, ignoresCase: true)
    case .capture where suffix.isEmpty:
      if let next = nodes[node].capture { return next }
      nodes[node].capture = nodes.count
    case .capture:
      let bytes = Array(suffix.utf8)
      if let known = nodes[node].suffixedCaptures.first(where: { $0.suffix == bytes }) {
        return known.next
      }
      nodes[node].suffixedCaptures.append((bytes, nodes.count))
      nodes[node].suffixedCaptures.sort { $0.suffix.count > $1.suffix.count }
    case .tail:
      if let next = nodes[node].tail { return next }
      nodes[node].tail = nodes.count
    }
    nodes.append(Node())
    return nodes.count - 1
  }

  private mutating func literal(from node: Int, _ bytes: [UInt8], ignoresCase: Bool) -> Int {
    if let known = nodes[node].literals.first(where: {
      $0.bytes == bytes && $0.ignoresCase == ignoresCase
    }) {
      return known.next
    }
    nodes[node].literals.append(
      Literal(bytes: bytes, ignoresCase: ignoresCase, next: nodes.count))
    // A literal in exact case is tried before the literal in any case.
    nodes[node].literals.sort { !$0.ignoresCase && $1.ignoresCase }
    nodes.append(Node())
    return nodes.count - 1
  }

  private static func equal(_ literal: Literal, _ path: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard literal.bytes.count == range.count else { return false }
    for offset in 0..<range.count {
      let byte = path[range.lowerBound + offset]
      let compared = literal.ignoresCase ? byte.lowered : byte
      guard compared == literal.bytes[offset] else { return false }
    }
    return true
  }

  /// Whether the segment ends with the suffix and has at least one byte before it.
  private static func hasSuffix(
    _ path: Span<UInt8>, _ range: Range<Int>, _ suffix: [UInt8]
  ) -> Bool {
    guard range.count > suffix.count else { return false }
    let start = range.upperBound - suffix.count
    for offset in suffix.indices where path[start + offset] != suffix[offset] { return false }
    return true
  }
}
