import Administration
import CommandKit
import RegentHTTPCodec
import RegentPairing
import RegentPlatform

/// The command `regentctl announce`, which advertises the service on the local network (DNS-SD) while it runs.
enum AnnounceVerb {
  static let command = verb(
    "announce", "advertise the service on the local network (DNS-SD) while this command runs",
    details: """
      Runs avahi-publish-service, which publishes the public address as \(ServiceAnnouncement.kind). "regent setup" on \
      a box finds the service that way; every other device on the network can see it, too. To advertise it whenever \
      the service runs, use the systemd unit regentd-announce: regentctl setup --announce on.
      """,
    inputs: [name], example: "announce --name 'Hotel TV'"
  ) { call, admin in
    let said = try await announcement(admin)
    call.console.flush()
    do throws(SystemError) {
      try ProgramReplacement.run(
        program, ["--no-fail", "--", usableName(call[name]), ServiceAnnouncement.kind, "\(said.port)"] + said.texts)
    } catch {
      throw CommandError(
        error.description, hint: error.isAboutAbsence ? "install it: apt install avahi-daemon avahi-utils" : error.hint)
    }
  }

  static let program = "avahi-publish-service"

  /// The announcement to publish; throws if other machines could not use the address.
  static func announcement(_ admin: AdminClient) async throws -> ServiceAnnouncement {
    guard let text = try await admin.service().publicURL, let url = try? AbsoluteURL(parsing: text),
      let port = url.effectivePort.flatMap({ UInt16(exactly: $0) }), !url.host.isLoopback
    else {
      throw CommandError(
        "the service has no public address that other machines can open",
        hint: "set one: sudo regentctl setup --public-url http://LAN-ADDRESS:8787")
    }
    return ServiceAnnouncement(
      isEncrypted: url.scheme == "https", host: url.host.description, port: port, path: url.path)
  }

  private static let name = Input.option(
    "name", .text("NAME"), "the name that boxes show beside the address (default: Regent on HOST)")

  /// The name to announce, shortened because a DNS label has at most 63 bytes.
  private static func usableName(_ given: String?) -> String {
    var name = given ?? "Regent on \(machineName() ?? "this machine")"
    while name.utf8.count > 63 { name.removeLast() }
    return name
  }
}
