import CommandKit
import RegentCryptography
import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import RegentPairingWire
import RegentPlatform

/// Finds the box's service again after its address has changed.
///
/// It asks the services that announce themselves on the local network, and accepts the one that proves that it knows
/// the secret of this box's key pair. The address that it uses is the one in the proof, not the announced one.
///
/// It does so only for services without TLS, because a certificate belongs to a name, which DNS leads to the new
/// address.
final class ServiceFinder: Sendable {
  private let configured: AbsoluteURL
  private let file: String
  private let publicKey: PublicKey
  private let key: HMACKey
  private let search: @Sendable () -> [FoundService]
  private let lastSearch = Locked<UInt64>(0)

  /// The shortest time between two searches, in nanoseconds.
  private static let pause: UInt64 = 20_000_000_000

  /// Creates a finder.
  ///
  /// Returns nil for a box that must not search: `find-again` is not set, the service has TLS, there are several
  /// services, or the credentials are no key pair.
  init?(
    _ settings: AgentSettings,
    search: @escaping @Sendable () -> [FoundService] = { (try? ServiceSearch.services()) ?? [] }
  ) {
    guard settings.findsAgain, settings.services.count == 1, let service = settings.services.first,
      service.scheme == "http", case .keyPair(let text, let secret)? = try? settings.credentials(),
      let publicKey = PublicKey(text), let key = try? HMACKey(.sha256, secret)
    else { return nil }
    configured = service
    file = MovedService.file(settings.state)
    self.publicKey = publicKey
    self.key = key
    self.search = search
  }

  /// Searches, unless it has done so recently.
  ///
  /// - Parameter current: the address that does not answer.
  /// - Returns: the service's other address, which is stored for later runs; nil if there is none.
  func find(insteadOf current: AbsoluteURL) async -> AbsoluteURL? {
    let now = Clocks.bootNanoseconds()
    let isDue = lastSearch.withLock { last in
      guard last == 0 || now - last >= Self.pause else { return false }
      last = now
      return true
    }
    guard isDue else { return nil }
    let search = search
    let found = await withCheckedContinuation { continuation in
      do throws(SystemError) {
        try DedicatedThread.start(named: "search") { continuation.resume(returning: search()) }
      } catch {
        continuation.resume(returning: [])
      }
    }
    for candidate in found where candidate.address.scheme == "http" {
      guard let service = await proved(candidate.address), service != current else { continue }
      MovedService(configured: configured, now: service).write(file)
      return service
    }
    return nil
  }

  /// The address that the service at `address` proves to be its own; nil if it proves nothing.
  private func proved(_ address: AbsoluteURL) async -> AbsoluteURL? {
    let asked = ServiceProofRequest(publicKey: publicKey, nonce: Random.bytes(ServiceProofRequest.length))
    var configuration = ClientConfiguration(wallClock: { Clocks.wallMilliseconds() })
    configuration.proxy = .none
    let client = Client(configuration)
    do throws(ClientError) {
      var request = ClientRequest(
        .post, try ClientURL(address.description.trimmingSlashes + Paths.boxService), body: asked.bytes)
      request.addHeader(.contentType, "application/json")
      request.deadline = .seconds(3)
      request.responseLimit = ServiceProofRequest.longest
      let response = try await client.send(request)
      guard response.status.rawValue == 200, let proof = ServiceProof(response.body),
        key.isValid(proof.proof, for: asked.message(proof.service)),
        let service = try? AbsoluteURL(parsing: proof.service), ["http", "https"].contains(service.scheme)
      else { return nil }
      return service
    } catch {
      return nil
    }
  }
}

/// The address at which the service was found, as a file in the state folder.
///
/// It counts only as long as the configured address is the one that it replaced.
struct MovedService: Equatable {
  let configured: AbsoluteURL
  let now: AbsoluteURL

  static func file(_ state: String) -> String { "\(state)/service.json" }

  init(configured: AbsoluteURL, now: AbsoluteURL) {
    self.configured = configured
    self.now = now
  }

  init?(reading file: String) {
    guard let bytes = try? DurableFile.read(file, limit: 4_096, widest: 0o600),
      let value = try? JSONValue(reading: bytes),
      let configured = value["configured"]?.string.flatMap({ try? AbsoluteURL(parsing: $0, acceptsZone: true) }),
      let now = value["now"]?.string.flatMap({ try? AbsoluteURL(parsing: $0) })
    else { return nil }
    self.init(configured: configured, now: now)
  }

  /// Stores the new address.
  ///
  /// If that fails, the next run searches for the service again.
  func write(_ file: String) {
    let object: JSONObject = ["configured": .string(configured.description), "now": .string(now.description)]
    try? DurableFile.write(object.bytes(), to: file)
  }
}

extension AgentSettings {
  /// The services to call: those of the settings, or the address at which the service was found again.
  var currentServices: [AbsoluteURL] {
    guard findsAgain, services.count == 1, let moved = MovedService(reading: MovedService.file(state)),
      moved.configured == services[0]
    else { return services }
    return [moved.now]
  }
}
