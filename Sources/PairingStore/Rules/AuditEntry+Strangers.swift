extension AuditEntry {
  /// What devices say that nobody has to know: whoever has an app's secret invents as many as he likes.
  private static let ofDevices: Set<String> = [
    "device.sign-in", "device.sign-out", "platform.decide", "platform.enrol", "platform.refuse",
  ]
  /// What the service says of programs and boxes that nobody has to know, and counts of lines that were left out.
  private static let ofService: Set<String> = [
    "client.refused", "client.register", "client.remove", "client.set", "platform.decide", "platform.enrol",
  ]

  /// Whether a stranger can have as many of these lines as he likes, without the consent of an operator or viewer: a
  /// full log drops them before all others.
  ///
  /// Derived, so that lines of earlier versions have it as well.
  public var isOfStranger: Bool {
    switch (actor, outcome) {
    case (.device, _): Self.ofDevices.contains(action)
    case (.service, .refused) where action == "box.enrol": true
    // A name that no account has is not written down: then the subject is the provider alone.
    case (.service, .refused) where action == "session.start": !subject.utf8.contains(UInt8(ascii: "/"))
    case (.service, _): Self.ofService.contains(action)
    case (.operator, _), (.viewer, _): false
    }
  }
}
