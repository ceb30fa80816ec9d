public import RegentPairing

extension AuditEntry {
  /// Whether the line names this viewer.
  public func names(_ viewer: Viewer) -> Bool {
    viewer.account != nil && (actor == .viewer(viewer) || hasSubject(viewer) || viewer.isNamed(in: detail))
  }

  /// A copy of a line about a viewer that has a pseudonym in place of the viewer's name.
  ///
  /// The detail is removed, because it may have the viewer's address, the title that the viewer asked for, or the name
  /// of a box.
  public func pseudonymised(_ viewer: Viewer, as name: AccountName) -> AuditEntry {
    let pseudonym = Viewer(provider: viewer.provider, account: name)
    return AuditEntry(
      at: at, actor: actor == .viewer(viewer) ? .viewer(pseudonym) : actor, action: action,
      subject: hasSubject(viewer) ? pseudonym.title : subject, outcome: outcome,
      detail: viewer.isNamed(in: detail) ? pseudonym.title : detail.isEmpty ? "" : Self.erased)
  }

  /// The short names of the boxes that the line names.
  public var devices: Set<String> {
    let words = "\(subject) \(detail)".split { $0 == " " || $0 == "," || $0 == ":" }
    return Set(words.filter { $0.utf8.count == 16 && $0.utf8.allSatisfy(Self.hexDigits.contains) }.map(String.init))
  }

  /// Whether the line names one of these boxes by its short name, no viewer with an account, and has a detail.
  ///
  /// Such a line may have a viewer's data in its detail: the visitor id, or the name of the box.
  public func isAbout(devices: Set<String>) -> Bool {
    switch (actor, action) {
    case (.viewer(let viewer), _) where viewer.account != nil: return false
    // The line names the account whose sign-in ended.
    case (.service, "device.sign-out"): return false
    default: return !detail.isEmpty && detail != Self.erased && !self.devices.isDisjoint(with: devices)
    }
  }

  /// A copy of a line about a viewer's box without its detail.
  public var withoutDetail: AuditEntry {
    AuditEntry(at: at, actor: actor, action: action, subject: subject, outcome: outcome, detail: Self.erased)
  }

  private static let erased = "erased"
  private static let hexDigits = Set("0123456789abcdef".utf8)

  private func hasSubject(_ viewer: Viewer) -> Bool { subject.utf8.elementsEqual(viewer.title.utf8) }
}
