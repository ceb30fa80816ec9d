/// The channels that an account has: what some providers send along at sign-in.
public struct LineUp: Hashable, Sendable {
  /// The channels as they were entered.
  public let channels: [String]

  private let folded: Set<String>

  /// A line-up of channels; without any it opens nothing.
  public init(_ channels: [String] = []) {
    self.channels = channels
    folded = Set(channels.map { $0.asciiLowercased })
  }

  /// Whether a resource is a channel of the line-up, in either case.
  public func contains(_ name: String) -> Bool {
    folded.contains(name.asciiLowercased)
  }
}

extension String {
  /// The text with the capital letters of ASCII made small: the same on every machine, whatever its language.
  var asciiLowercased: String {
    String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self)
  }
}
