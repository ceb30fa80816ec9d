package import HTTPServer
internal import RegentHTTPCodec
internal import RegentPairing
internal import RegentPairingWire

/// What the words of a call say by themselves, before anybody looks at who calls, at the time or at what stands.
struct V1Words: Sendable {
  let path: PathParameters
  let parameters: CallParameters
  let format: WireFormat
  /// Whether a browser on another site asks.
  let isCrossOrigin: Bool
  /// Whether an access token of OAuth opens it.
  let takesGrants: Bool
  let work: V1Work
}

/// A poll as its connection remembers it: the box will ask again in the same words.
///
/// Kept is only what the words decide for ever. Everything that can change is looked at with each poll anew: the
/// limits, the signature, its time and its nonce, the end of a token, the application, the requestor, the code.
final class RememberedPoll: Sendable {
  /// In bytes: a poll has 200 to 500, and what is longer is not worth memory that nobody counts for its sender.
  static let longest = 1024

  let head: RememberedHead
  let words: V1Words
  let device: CallDevice
  /// For whom it was, whom the words may name.
  let requestor: RequestorID
  /// What its access token says, when it had one.
  let claims: AccessTokens.Claims?
  /// How its signed header was made, when it had one.
  let signer: KnownSigner?

  /// Nothing for what is no poll of a device that has to ask again.
  init?(
    _ request: Request, _ words: V1Words, _ device: CallDevice?, _ signed: SignedCaller, after error: CallError
  ) {
    guard error.status == .notFound, request.method == .get, request.preferredWait == nil, let device,
      let head = RememberedHead(request, atMost: Self.longest)
    else { return nil }
    self.head = head
    self.words = words
    self.device = device
    requestor = signed.caller.requestor
    claims = signed.claims
    signer = signed.signer
  }
}

/// Answers a poll in the words of the last one on its connection without reading them; passes on everything else.
package struct RememberedPolls<Next: Handler>: Handler {
  private let endpoints: V1Endpoints
  private let next: Next

  /// Puts itself before the routes of a service.
  package init(_ core: ServiceCore, before next: Next) {
    endpoints = V1Endpoints(core)
    self.next = next
  }

  package func handle(_ request: Request) -> Answer {
    guard let known = request.remembered as? RememberedPoll else { return next.handle(request) }
    switch known.head.likeness(of: request) {
    case .same: return endpoints.answer(request, like: known, known.claims)
    case .otherCredentials: return endpoints.answer(request, like: known, nil)
    case .other: return next.handle(request)
    }
  }
}
