/// The channels in an account's subscription.
///
/// Some providers send them with the sign-in.
public struct LineUp: Hashable, Sendable {
  /// The channels as the operator entered them.
  public let channels: [String]

  private let folded: Set<String>

  /// Creates a line-up from channels.
  ///
  /// An empty line-up allows no resource.
  public init(_ channels: [String] = []) {
    self.channels = channels
    folded = Set(channels.map { $0.asciiLowercased })
  }

  /// Whether the resource is a channel of the line-up, compared without case.
  public func contains(_ name: String) -> Bool {
    folded.contains(name.asciiLowercased)
  }
}

extension String {
  /// The text with ASCII capitals in lower case.
  ///
  /// Unlike `lowercased()`, it never changes other letters.
  var asciiLowercased: String {
    String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self)
  }
}
