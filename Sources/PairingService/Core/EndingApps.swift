package import PairingStore
package import RegentPairing

extension ServiceCore {
  /// The app sign-ins that were made from these box sign-ins and end with them.
  package func apps(endingWith records: [AuthenticationRecord], at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    var apps: [AuthenticationRecord] = []
    // Only a box's own sign-in, which is a regular one, can have apps. The requestor is not compared with the box
    // makers' requestors, because an operator may have changed that setting since.
    for record in records where record.authentication.source == .regular {
      apps += try await store.children(of: record.authentication.id, at: now)
    }
    return apps
  }
}

extension [AuthenticationRecord] {
  /// The apps that end with a sign-in, for an audit line: `kodi for acme, plex for acme`.
  ///
  /// At most 20 are listed, because the box chooses the names and may invent any number.
  package var appTitles: String {
    let most = 20
    var titles: [String] = []
    for record in self {
      let title = "\(record.authentication.parent?.app ?? "") for \(record.authentication.requestor)"
      if !titles.contains(title) { titles.append(title) }
    }
    let more = titles.count > most ? ", and \(titles.count - most) more" : ""
    return titles.prefix(most).joined(separator: ", ") + more
  }

  /// The detail of an audit line about the end of a sign-in: `text`, and after it the apps that end with the sign-in.
  package func detail(behind text: String = "") -> String {
    [text, isEmpty ? "" : "with it \(appTitles)"].filter { !$0.isEmpty }.joined(separator: "; ")
  }
}
