internal import Glibc

/// The environment variables of a process.
public struct Environment: Sendable {
  private let find: @Sendable (String) -> String?

  public static let process = Environment { name in
    guard let text = unsafe getenv(name) else { return nil }
    return unsafe String(cString: text)
  }

  /// Variables from a dictionary, for tests.
  public init(_ variables: [String: String]) {
    find = { variables[$0] }
  }

  private init(find: @escaping @Sendable (String) -> String?) { self.find = find }

  /// The value of the variable; nil if it is unset or empty, because users set variables to nothing to switch them off.
  public subscript(_ name: String) -> String? {
    guard let text = find(name), !text.isEmpty else { return nil }
    return text
  }
}
