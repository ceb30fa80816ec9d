import Administration
import CommandKit
import RegentHTTPCodec
import RegentPairing
import RegentPlatform

/// `regentctl announce`.
enum AnnounceVerb {
  static let command = verb(
    "announce", "say on the local network where the service is, as long as this runs",
    details: """
      Becomes avahi-publish-service, which says it through the machine's Avahi: DNS-SD, of the kind \
      \(ServiceAnnouncement.kind), with the public address. Boxes on which somebody types regent setup find it, and anybody \
      else in the network does. With systemd it is the unit regentd-announce, which goes with the service: regentctl setup \
      --announce on.
      """,
    inputs: [name], example: "announce --name 'TV of the house'"
  ) { call, admin in
    let said = try await announcement(admin)
    call.console.flush()
    do throws(SystemError) {
      try ProgramReplacement.run(
        program, ["--no-fail", "--", usableName(call[name]), ServiceAnnouncement.kind, "\(said.port)"] + said.texts)
    } catch {
      throw CommandError(
        error.description, hint: error.isAboutAbsence ? "apt install avahi-daemon avahi-utils" : error.hint)
    }
  }

  static let program = "avahi-publish-service"

  /// What there is to say; an error when other machines could do nothing with it.
  static func announcement(_ admin: AdminClient) async throws -> ServiceAnnouncement {
    guard let text = try await admin.service().publicURL, let url = try? AbsoluteURL(parsing: text),
      let port = url.effectivePort.flatMap({ UInt16(exactly: $0) }), !url.host.isLoopback
    else {
      throw CommandError(
        "the service has no address that other machines could open",
        hint: "regentctl setup --public-url http://LAN-ADDRESS:8787")
    }
    return ServiceAnnouncement(
      isEncrypted: url.scheme == "https", host: url.host.description, port: port, path: url.path)
  }

  private static let name = Input.option(
    "name", .text("NAME"), "what boxes show beside the address; Regent on HOST when nobody says")

  /// A label of DNS has 63 bytes.
  private static func usableName(_ given: String?) -> String {
    var name = given ?? "Regent on \(machineName() ?? "this machine")"
    while name.utf8.count > 63 { name.removeLast() }
    return name
  }
}
