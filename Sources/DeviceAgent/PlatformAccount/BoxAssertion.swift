import CommandKit
import RegentCryptography
import RegentJSON
import RegentPairing
import RegentPairingWire

/// The box's signed answer to one profile request: a challenge that the service sends through an app.
struct BoxAssertion {
  let request: [UInt8]
  let box: BoxKeyFile.Kept
  let provider: String
  let who: AppRequestor
  /// The current time on the box's clock.
  let now: Instant

  /// Signs the answer, unless the profile request differs from what the app claimed.
  ///
  /// The box cannot verify the profile request. It therefore checks that the request names the requestor and the
  /// provider that the viewer decided about. Otherwise an app that is allowed for one requestor could pass on another
  /// requestor's request.
  func signed() throws(CommandError) -> String {
    let text = String(decoding: request, as: UTF8.self)
    guard let asked = ProfileRequest(unverified: text) else {
      throw CommandError("the service's profile request cannot be read", code: "no-assertion")
    }
    guard asked.requestor.text.utf8.elementsEqual(who.requestor.utf8) else {
      throw CommandError("the profile request is another requestor's", code: "no-assertion")
    }
    guard asked.provider.text.utf8.elementsEqual(provider.utf8) else {
      throw CommandError("the profile request is about another provider", code: "no-assertion")
    }
    let assertion = PlatformAssertion(
      box: box.box, audience: asked.issuer, request: text, provider: asked.provider,
      app: who.app, issued: PlatformAssertion.issued(at: now, for: asked))
    do throws(KeyError) {
      return try JWS.sign(
        assertion.claims.bytes(), with: box.key, keyID: box.box, type: PlatformAssertion.type)
    } catch {
      throw CommandError("the box's key cannot sign: \(error)", code: "account")
    }
  }
}
