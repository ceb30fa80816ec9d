import CommandKit
import RegentCryptography
import RegentHTTPClient
import RegentHTTPCodec
import RegentPairing
import RegentPairingWire
import RegentPlatform

/// Redeems an enrolment code at a service, without revealing the code or the response to the network.
///
/// Only a service that knows the code can make a valid response. A machine in the middle, or one that pretends to be
/// the service, can therefore prevent the enrolment, but cannot read the credentials or insert its own.
struct CodeRedemption: Sendable {
  private let code: EnrolmentCode
  private let key: CodeKey
  private let box: [UInt8]

  /// How long to wait for the service's response, in seconds.
  static let patience = 20

  /// - Parameters:
  ///   - code: the code that the user typed.
  ///   - place: the path of the settings file, so that several boxes on one machine differ.
  /// - Throws: `CommandError` if there is not enough memory for the slow hash.
  init(_ code: EnrolmentCode, place: String) throws(CommandError) {
    self.code = code
    guard let key = CodeKey(stretching: Secret(code.secret), salt: code.id.text, purpose: EnrolmentRequest.purpose)
    else {
      throw CommandError("there is not enough memory to check the code", hint: "stop other programs, then try again")
    }
    self.key = key
    box = Self.name(of: place, key)
  }

  /// The box's pseudonym for this code.
  ///
  /// The pseudonym stays the same when the box retries. With another code it differs. A reader who does not know the
  /// code cannot link it to the box.
  private static func name(of place: String, _ key: CodeKey) -> [UInt8] {
    let machine = try? DurableFile.read("/etc/machine-id", limit: 256, widest: nil)
    // Without a machine id the pseudonym is random. If the response is lost, a retry then looks like another box, and
    // the code is used up.
    let id = machine.flatMap { $0.isEmpty ? nil : $0 } ?? Random.bytes(32)
    var fields = FramedFields(purpose: "regent-enrolment-box", version: 1)
    fields.append(id)
    // The path is made absolute, so that a relative and an absolute path of the same file give the same pseudonym.
    fields.append(place.hasPrefix("/") ? place : "\(realPath(".") ?? ".")/\(place)")
    return key.proof(of: fields.bytes)
  }

  func redeem(
    at service: AbsoluteURL, _ authorities: CertificateAuthorities, _ proxy: ProxyChoice, buildTime: Int64
  ) async throws(CommandError) -> EnrolmentGrant {
    let message = EnrolmentRequest.message(id: code.id, box: box)
    let asked = EnrolmentRequest(id: code.id, box: box, proof: key.proof(of: message))
    var configuration = ClientConfiguration(wallClock: { Clocks.wallMilliseconds() }, buildTime: buildTime)
    configuration.authorities = authorities
    configuration.proxy = proxy
    let client = Client(configuration)
    let response: ClientResponse
    do throws(ClientError) {
      var request = ClientRequest(
        .post, try ClientURL(service.description.trimmingSlashes + Paths.enrol), body: asked.bytes)
      request.addHeader(.contentType, "application/json")
      request.deadline = .seconds(Self.patience)
      response = try await client.send(request)
    } catch {
      throw CommandError(
        error.description, hint: error.hint ?? "check the service's address, then run the command again",
        exit: .unreachable)
    }
    switch response.status.rawValue {
    case 200: break
    case 403:
      throw CommandError(
        "this code is wrong, used or expired",
        hint: "compare each character; a code works once, for one hour; the operator makes a new one with "
          + "regentctl requestor invite REQUESTOR")
    case 429:
      throw CommandError("too many wrong codes from this address", hint: "wait ten minutes, then try again")
    case 503: throw CommandError("the service is busy", hint: "run the command again in a minute")
    default:
      throw CommandError(
        "unexpected answer from \(service.host): \(response.status)",
        hint: "check the address; the service and this box may have different versions: regent --version")
    }
    guard let answer = EnrolmentAnswer(response.body),
      let opened = try? key.open(answer.sealed, answering: message), let grant = EnrolmentGrant(opened.exposedBytes())
    else {
      throw CommandError(
        "\(service.host) could not prove that it made this code; nothing was stored",
        hint: "check the code and the address; if both are right, another machine may pose as the service")
    }
    return grant
  }
}
