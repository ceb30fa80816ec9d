package import HTTPServer
internal import RegentHTTPCodec
internal import RegentPairing
internal import RegentPairingWire

/// What can be read from a request before authentication, independent of the time and of stored data.
struct V1Words: Sendable {
  let path: PathParameters
  let parameters: CallParameters
  let format: WireFormat
  /// Whether the request has an `Origin` header: a page of another site sent it.
  let isCrossOrigin: Bool
  /// Whether OAuth access tokens are accepted.
  let takesGrants: Bool
  let work: V1Work
}

/// A poll that its connection remembers, because the box will send the same request again.
///
/// Only what follows from the words of the request is kept. Everything that can change is checked again at each poll:
/// rate limits, signature, signature time, nonce, token expiry, application, requestor and code.
final class RememberedPoll: Sendable {
  /// The longest request that is remembered, in bytes.
  ///
  /// A poll has 200 to 500. Longer requests are not kept, because no limit counts this memory for the client that sends
  /// them.
  static let longest = 1024

  let head: RememberedHead
  let words: V1Words
  let device: CallDevice
  /// The requestor that was authenticated; the request may name it.
  let requestor: RequestorID
  /// The claims of the access token, if it had one.
  let claims: AccessTokens.Claims?
  /// How to check a signed header of the same shape, if it had one.
  let signer: KnownSigner?

  /// Returns nil when the request is not the poll of a device that will have to ask again.
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

/// Answers a poll that equals the last one on its connection without parsing it again; passes everything else on.
package struct RememberedPolls<Next: Handler>: Handler {
  private let endpoints: V1Endpoints
  private let next: Next

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
