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
      detail: viewer.isNamed(in: detail) ? pseudonym.title : detail.isEmpty ? "" : "erased")
  }

  private func hasSubject(_ viewer: Viewer) -> Bool { subject.utf8.elementsEqual(viewer.title.utf8) }
}
