package import PairingStore
package import RegentPairing

extension ServiceCore {
  /// The apps that are in by one of these sign-ins, and end with it.
  package func apps(endingWith records: [AuthenticationRecord], at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    var apps: [AuthenticationRecord] = []
    // Only a box's own sign-in has any: its requestor need not be a box maker's any more.
    for record in records where record.authentication.source == .regular {
      apps += try await store.children(of: record.authentication.id, at: now)
    }
    return apps
  }
}

extension [AuthenticationRecord] {
  /// `kodi for acme, plex for acme`: the box names its apps, and may have made up any number of them.
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

  /// A line of the audit log about the end of a sign-in, with the apps that end with it.
  package func detail(behind text: String = "") -> String {
    [text, isEmpty ? "" : "with it \(appTitles)"].filter { !$0.isEmpty }.joined(separator: "; ")
  }
}
