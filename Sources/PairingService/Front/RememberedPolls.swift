package import HTTPServer
internal import RegentHTTPCodec
internal import RegentPairing
internal import RegentPairingWire

/// The parts of a request that can be read before authentication, and that depend neither on the time nor on stored
/// data.
struct V1Words: Sendable {
  let path: PathParameters
  let parameters: CallParameters
  let format: WireFormat
  /// Whether the request has an `Origin` header, which means that a page of another site sent it.
  let isCrossOrigin: Bool
  /// Whether the endpoint accepts OAuth access tokens.
  let takesGrants: Bool
  let work: V1Work
}

/// A poll that its connection remembers, because the box will send the same request again.
///
/// Only values are kept that follow from the request's text. Everything that can change is checked again at each poll:
/// rate limits, signature, signature time, nonce, token expiry, application, requestor and code.
final class RememberedPoll: Sendable {
  /// The longest request that a connection remembers, in bytes.
  ///
  /// A poll has 200 to 500. Longer requests are not kept, because no limit counts this memory for the client that sends
  /// them.
  static let longest = 1024

  let head: RememberedHead
  let words: V1Words
  let device: CallDevice
  /// The requestor that was authenticated for the poll, which the request may name.
  let requestor: RequestorID
  /// The claims of the poll's access token, if it had one.
  let claims: AccessTokens.Claims?
  /// The verified facts for checking the next signed header faster, if the poll had such a header.
  let signer: KnownSigner?

  /// Remembers a request; nil unless it is the poll of a device that will have to ask again.
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

/// Answers a poll that equals the last one on its connection without parsing it again.
///
/// Passes all other requests on.
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
