/// A command that is created only when its word is typed.
///
/// Creating all twenty nouns of `regentctl` with their texts takes half of the start time of a program, and only one is
/// used.
public struct CommandOffer: Sendable {
  /// The name of the command that is offered.
  public let name: String
  let make: @Sendable () -> Command

  /// Offers a command that `make` creates on demand.
  public init(_ name: String, _ make: @autoclosure @escaping @Sendable () -> Command) {
    self.name = name
    self.make = make
  }

  /// Offers a command that has already been created.
  public static func made(_ command: Command) -> CommandOffer { CommandOffer(command.name, command) }
}
