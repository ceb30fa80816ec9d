// MediaTokenVerifier: what a stream server links to check short media tokens offline. Owns the checks and the cache of
// published keys. The token's text form is RegentPairingWire's, the signature check RegentCryptography's.

import RegentCryptography
public import RegentPairing
import RegentPairingWire
import RegentPlatform

/// Checks short media tokens: the right to play one resource for a few minutes.
///
/// ```swift
/// let verifier = MediaTokenVerifier(keys: .url("https://pair.example/oauth/jwks.json"))
/// let check = await verifier.verify(token, requestor: "SPORT", resource: "channel-1")
/// guard check.verdict == .valid else { return refuse(check.verdict) }
/// ```
///
/// The asynchronous `verify` fetches keys when it needs them. The synchronous one never does: it uses the keys at hand,
/// and may be called from an event loop. Both may be called from many threads at once.
public final class MediaTokenVerifier: Sendable {
  private let cache: KeyCache
  private let skew: Duration
  private let wallClock: @Sendable () -> Int64

  /// A verifier.
  ///
  /// - Parameters:
  ///   - keys: where the service's public keys come from.
  ///   - skew: how far the clocks of service and verifier may differ.
  ///   - wallClock: the wall clock in epoch milliseconds; none means the system's.
  public init(
    keys: MediaTokenKeys, skew: Duration = .seconds(30),
    wallClock: (@Sendable () -> Int64)? = nil
  ) {
    let wallClock = wallClock ?? { Clocks.wallMilliseconds() }
    cache = KeyCache(keys, wallClock: wallClock)
    self.skew = max(skew, .zero)
    self.wallClock = wallClock
  }

  /// Checks a token with the keys at hand; no network, no disk.
  ///
  /// Keys that come from a file or a URL must have been fetched: by ``prepare()``, or by the asynchronous `verify`.
  /// When they are old, or the token was signed with a key that is not among them, new ones are fetched in the
  /// background.
  ///
  /// - Parameters:
  ///   - token: the token, as base64 or as its text.
  ///   - requestor: the id of the requestor whose apps may play here, compared byte by byte. An empty one is refused.
  ///   - resource: what is to be played; none checks authenticity and time alone.
  ///   - now: the time to judge by; none means the wall clock.
  /// - Returns: the verdict, and what the token says when its signature is good.
  public func verifyNow(
    _ token: String, requestor: String, resource: String? = nil, at now: Instant? = nil
  ) -> MediaTokenCheck {
    checkNow(token, requestor, resource, now)
  }

  private func checkNow(
    _ token: String, _ requestor: String?, _ resource: String?, _ now: Instant?
  ) -> MediaTokenCheck {
    guard let received = try? ReceivedMediaToken(reading: token) else {
      return MediaTokenCheck(.invalidFormat)
    }
    return judge(received, with: cache.keyNow(received.token.keyID), requestor, resource, now)
  }

  /// Checks a token; keys that are missing or too old are fetched first, within reason.
  ///
  /// - Parameters:
  ///   - token: the token, as base64 or as its text.
  ///   - requestor: the id of the requestor whose apps may play here, compared byte by byte. An empty one is refused.
  ///   - resource: what is to be played; none checks authenticity and time alone.
  ///   - now: the time to judge by; none means the wall clock.
  /// - Returns: the verdict, and what the token says when its signature is good.
  public func verify(
    _ token: String, requestor: String, resource: String? = nil, at now: Instant? = nil
  ) async -> MediaTokenCheck {
    await check(token, requestor, resource, now)
  }

  private func check(
    _ token: String, _ requestor: String?, _ resource: String?, _ now: Instant?
  ) async -> MediaTokenCheck {
    guard let received = try? ReceivedMediaToken(reading: token) else {
      return MediaTokenCheck(.invalidFormat)
    }
    return judge(received, with: await cache.key(received.token.keyID), requestor, resource, now)
  }

  /// Whether there are keys to check with.
  public var hasKeys: Bool { cache.keys != nil }

  /// Fetches the keys, so that ``verifyNow(_:requestor:resource:at:)`` has some from the start.
  ///
  /// - Throws: ``MediaTokenKeyError`` when there are none to be had.
  public func prepare() async throws(MediaTokenKeyError) { try await cache.prepare() }

  private func judge(
    _ received: ReceivedMediaToken, with found: KeyCache.Found, _ requestor: String?, _ resource: String?,
    _ now: Instant?
  ) -> MediaTokenCheck {
    // A token says which key signed it; others are not tried.
    switch found {
    case .noKeys: return MediaTokenCheck(.unknown)
    case .unknownKey: return MediaTokenCheck(.invalidSignature)
    case .key(let key):
      guard key.isValid(received.signature, for: received.signedPart.span) else {
        return MediaTokenCheck(.invalidSignature)
      }
    }
    let contents = MediaTokenContents(received.token)
    let now = now ?? Instant(milliseconds: wallClock())
    // Made later than now: by whoever holds the key, but for another time than this.
    guard now < contents.expires + skew, contents.timeIssued <= now + skew else {
      return MediaTokenCheck(.expired, contents)
    }
    if let requestor, requestor.isEmpty || !requestor.utf8.elementsEqual(contents.requestorID.utf8) {
      return MediaTokenCheck(.invalidRequestor, contents)
    }
    if let resource, !resource.utf8.elementsEqual(contents.resourceID.utf8) {
      return MediaTokenCheck(.invalidResource, contents)
    }
    return MediaTokenCheck(.valid, contents)
  }
}

// The forms of 0.1.0, which check no requestor. The next release removes them.
extension MediaTokenVerifier {
  /// Accepts tokens of every requestor of the service.
  @available(*, deprecated, message: "name the requestor: a token of any other requestor is accepted here")
  public func verifyNow(
    _ token: String, resource: String? = nil, at now: Instant? = nil
  ) -> MediaTokenCheck {
    checkNow(token, nil, resource, now)
  }

  /// Accepts tokens of every requestor of the service.
  @available(*, deprecated, message: "name the requestor: a token of any other requestor is accepted here")
  public func verify(
    _ token: String, resource: String? = nil, at now: Instant? = nil
  ) async -> MediaTokenCheck {
    await check(token, nil, resource, now)
  }

  /// Reads a token whose signature is good, for the C interface; this is no check.
  package func contents(of token: String) -> MediaTokenContents? { checkNow(token, nil, nil, nil).contents }

  /// The check of `media_token_verify`, which names no requestor.
  package func verdictForAnyRequestor(_ token: String, _ resource: String?, _ now: Instant?) -> MediaTokenVerdict {
    checkNow(token, nil, resource, now).verdict
  }
}
