/// What a route captured from the path, percent-decoded once.
public struct PathParameters: Sendable, Equatable {
  private let names: [String]
  private let values: [String]

  /// The suffix of the last segment, such as `.json`; nil when it has none of those the route allows.
  public let suffix: String?

  init(names: [String], values: [String], suffix: String?) {
    self.names = names
    self.values = values
    self.suffix = suffix
  }

  /// The captured text, on a route whose pattern may capture it or not.
  public subscript(ifCaptured name: String) -> String? {
    guard let index = names.firstIndex(of: name), index < values.count else { return nil }
    return values[index]
  }

  /// The captured text; the name must be in the route's pattern, anything else is a mistake in the program.
  public subscript(name: String) -> String {
    guard let index = names.firstIndex(of: name), index < values.count else {
      preconditionFailure("the route's pattern captures nothing named '\(name)'")
    }
    return values[index]
  }
}
