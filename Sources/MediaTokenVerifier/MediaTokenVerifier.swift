// MediaTokenVerifier: the library that a stream server links to check short media tokens offline. It contains the
// checks and the cache of published keys. RegentPairingWire parses the token's text; RegentCryptography checks the
// signature.

import RegentCryptography
public import RegentPairing
import RegentPairingWire
import RegentPlatform

/// Checks short media tokens.
///
/// A media token is the right to play one resource for a few minutes.
///
/// ```swift
/// let verifier = MediaTokenVerifier(keys: .url("https://pair.example/oauth/jwks.json"))
/// let check = await verifier.verify(token, requestor: "SPORT", resource: "channel-1")
/// guard check.verdict == .valid else { return refuse(check.verdict) }
/// ```
///
/// The asynchronous `verify` waits for a fetch of the keys when it has to. The synchronous `verifyNow` never waits: it
/// uses the cached keys, and may be called from an event loop. Both may be called from many threads at once.
public final class MediaTokenVerifier: Sendable {
  private let cache: KeyCache
  private let skew: Duration
  private let wallClock: @Sendable () -> Int64

  /// Creates a verifier and reads the keys, if they are a text or a file.
  ///
  /// - Parameters:
  ///   - keys: the source of the service's public keys.
  ///   - skew: how far the clocks of the service and the verifier may differ.
  ///   - wallClock: returns the wall clock in epoch milliseconds; `nil` means the system's clock.
  public init(
    keys: MediaTokenKeys, skew: Duration = .seconds(30),
    wallClock: (@Sendable () -> Int64)? = nil
  ) {
    let wallClock = wallClock ?? { Clocks.wallMilliseconds() }
    cache = KeyCache(keys, wallClock: wallClock)
    self.skew = max(skew, .zero)
    self.wallClock = wallClock
  }

  /// Checks a token with the cached keys, without any access to the network or the disk.
  ///
  /// Keys from a URL must have been fetched before, by ``prepare()`` or by `verify`. If the keys are stale, or the
  /// token names a key that is not cached, a fetch starts in the background.
  ///
  /// - Parameters:
  ///   - token: the token as base64, or as its decoded text.
  ///   - requestor: the id of the requestor whose tokens are accepted, compared byte by byte. An empty id is refused.
  ///   - resource: the resource that is about to play. With `nil`, a token for any resource is accepted.
  ///   - now: the time to check against; `nil` means the wall clock.
  /// - Returns: the verdict, and the token's contents if its signature is valid.
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

  /// Checks a token.
  ///
  /// Waits for the keys if none are cached, or if the token names a key that is not cached.
  ///
  /// - Parameters:
  ///   - token: the token as base64, or as its decoded text.
  ///   - requestor: the id of the requestor whose tokens are accepted, compared byte by byte. An empty id is refused.
  ///   - resource: the resource that is about to play. With `nil`, a token for any resource is accepted.
  ///   - now: the time to check against; `nil` means the wall clock.
  /// - Returns: the verdict, and the token's contents if its signature is valid.
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

  /// Whether any keys are cached.
  public var hasKeys: Bool { cache.keys != nil }

  /// Fetches the keys if none are cached.
  ///
  /// Call it once before ``verifyNow(_:requestor:resource:at:)``.
  ///
  /// - Throws: ``MediaTokenKeyError`` if no keys can be read or fetched.
  public func prepare() async throws(MediaTokenKeyError) { try await cache.prepare() }

  private func judge(
    _ received: ReceivedMediaToken, with found: KeyCache.Found, _ requestor: String?, _ resource: String?,
    _ now: Instant?
  ) -> MediaTokenCheck {
    // The token names the key that signed it. The verifier tries no other key.
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
    // A token that was issued in the future is refused too, even if its signature is valid.
    guard contents.timeIssued <= now + skew else {
      return MediaTokenCheck(.expired, contents, ahead: contents.timeIssued.since(now))
    }
    guard now < contents.expires + skew else { return MediaTokenCheck(.expired, contents) }
    if let requestor, requestor.isEmpty || !requestor.utf8.elementsEqual(contents.requestorID.utf8) {
      return MediaTokenCheck(.invalidRequestor, contents)
    }
    if let resource, !resource.utf8.elementsEqual(contents.resourceID.utf8) {
      return MediaTokenCheck(.invalidResource, contents)
    }
    return MediaTokenCheck(.valid, contents)
  }
}

// The deprecated functions of 0.1.0, which do not check the requestor. The next release removes them.
extension MediaTokenVerifier {
  /// Checks a token with the cached keys, and accepts tokens of every requestor of the service.
  @available(*, deprecated, message: "name the requestor: a token of any other requestor is accepted here")
  public func verifyNow(
    _ token: String, resource: String? = nil, at now: Instant? = nil
  ) -> MediaTokenCheck {
    checkNow(token, nil, resource, now)
  }

  /// Checks a token, and accepts tokens of every requestor of the service.
  @available(*, deprecated, message: "name the requestor: a token of any other requestor is accepted here")
  public func verify(
    _ token: String, resource: String? = nil, at now: Instant? = nil
  ) async -> MediaTokenCheck {
    await check(token, nil, resource, now)
  }

  /// Returns the contents of a token with a valid signature, for the C interface.
  ///
  /// The contents do not say whether the token is valid.
  package func contents(of token: String) -> MediaTokenContents? { checkNow(token, nil, nil, nil).contents }

  /// Checks a token without a requestor, for the C function `media_token_verify`.
  package func verdictForAnyRequestor(_ token: String, _ resource: String?, _ now: Instant?) -> MediaTokenVerdict {
    checkNow(token, nil, resource, now).verdict
  }
}
