import RegentPairing

extension AuditEntry {
  /// Actions by the service whose audit lines may be dropped first: events of OAuth clients and of boxes, and pauses
  /// after wrong passwords.
  private static let ofService: Set<String> = [
    "client.refused", "client.register", "client.remove", "client.set", "grant.end", "platform.decide",
    "platform.enrol", "session.throttle",
  ]

  /// Whether an attacker can cause any number of such audit lines without the consent of an operator or viewer.
  ///
  /// A full log drops these lines first. The value is computed from other columns, so that it is available for lines of
  /// earlier versions.
  public var isOfStranger: Bool {
    switch (actor, outcome) {
    // An attacker who has extracted an app's secret can invent devices, so no line by a device is an exception.
    case (.device, _): true
    case (.service, .refused) where action == "box.enrol": true
    // The line about a failed sign-in with an unknown account has only the provider as its subject. So that subject
    // contains no slash.
    case (.service, .refused) where action == "session.start": !subject.utf8.contains(UInt8(ascii: "/"))
    case (.service, _): Self.ofService.contains(action)
    // A guest needs no account: each visitor of the phone page may start any number of sessions.
    case (.viewer(let viewer), _): viewer.account == nil
    case (.operator, _): false
    }
  }
}
