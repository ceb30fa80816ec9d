/// A command that is made when its word is typed.
///
/// Twenty nouns with their verbs, options and texts are half of what the start of a program costs, and one is typed.
public struct CommandOffer: Sendable {
  /// The word that calls it; the command's own name.
  public let name: String
  let make: @Sendable () -> Command

  /// Offers a command under its name.
  public init(_ name: String, _ make: @autoclosure @escaping @Sendable () -> Command) {
    self.name = name
    self.make = make
  }

  /// Offers a command that is there already.
  public static func made(_ command: Command) -> CommandOffer { CommandOffer(command.name, command) }
}
