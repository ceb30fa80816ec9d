internal import Glibc

/// The environment variables of a process, asked one by one.
public struct Environment: Sendable {
  private let find: @Sendable (String) -> String?

  public static let process = Environment { name in
    guard let text = unsafe getenv(name) else { return nil }
    return unsafe String(cString: text)
  }

  /// Variables given as a table, for tests.
  public init(_ variables: [String: String]) {
    find = { variables[$0] }
  }

  private init(find: @escaping @Sendable (String) -> String?) { self.find = find }

  /// The variable's text; nil when it is not set or empty, which people use to switch one off.
  public subscript(_ name: String) -> String? {
    guard let text = find(name), !text.isEmpty else { return nil }
    return text
  }
}
