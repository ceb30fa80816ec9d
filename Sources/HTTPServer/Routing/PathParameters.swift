/// The parts of the path that a route captured, percent-decoded once.
public struct PathParameters: Sendable, Equatable {
  private let names: [String]
  private let values: [String]

  /// The suffix of the last segment, such as `.json`; nil if it has none of those that the route allows.
  public let suffix: String?

  init(names: [String], values: [String], suffix: String?) {
    self.names = names
    self.values = values
    self.suffix = suffix
  }

  /// The text that the route captured under this name; nil if there is none.
  public subscript(ifCaptured name: String) -> String? {
    guard let index = names.firstIndex(of: name), index < values.count else { return nil }
    return values[index]
  }

  /// The text that the route captured under this name.
  ///
  /// Traps if the route's pattern has no such capture.
  public subscript(name: String) -> String {
    guard let index = names.firstIndex(of: name), index < values.count else {
      preconditionFailure("the route's pattern captures nothing named '\(name)'")
    }
    return values[index]
  }
}
