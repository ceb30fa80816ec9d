extension AuditEntry {
  /// Actions by devices whose audit lines may be dropped first.
  ///
  /// An attacker who has extracted an app's secret can cause any number of them.
  private static let ofDevices: Set<String> = [
    "device.sign-in", "device.sign-out", "device.visitor", "platform.decide", "platform.enrol", "platform.refuse",
  ]
  /// Actions by the service whose audit lines may be dropped first: events of self-registered clients and of boxes.
  private static let ofService: Set<String> = [
    "client.refused", "client.register", "client.remove", "client.set", "platform.decide", "platform.enrol",
  ]

  /// Whether an attacker can cause any number of such audit lines without the consent of an operator or viewer.
  ///
  /// A full log drops these lines first. The value is computed from other columns, so that it is available for lines of
  /// earlier versions.
  public var isOfStranger: Bool {
    switch (actor, outcome) {
    case (.device, _): Self.ofDevices.contains(action)
    case (.service, .refused) where action == "box.enrol": true
    // The line about a failed sign-in with an unknown account has only the provider as its subject. So that subject
    // contains no slash.
    case (.service, .refused) where action == "session.start": !subject.utf8.contains(UInt8(ascii: "/"))
    case (.service, _): Self.ofService.contains(action)
    case (.operator, _), (.viewer, _): false
    }
  }
}
