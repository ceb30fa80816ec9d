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
      throw CommandError(
        "the app's profile request cannot be read",
        hint: "the app must pass the profile request as the service sent it, unchanged", code: "no-assertion")
    }
    guard asked.requestor.text.utf8.elementsEqual(who.requestor.utf8) else {
      throw CommandError(
        "the app's profile request is for another requestor than \(who.requestor)",
        hint: "the app must ask the service for a profile request of \(who.requestor)", code: "no-assertion")
    }
    guard asked.provider.text.utf8.elementsEqual(provider.utf8) else {
      throw CommandError(
        "the app's profile request is for another provider than \(provider), with which the box is signed in",
        hint: "the app must ask the service for a profile request for \(provider)", code: "no-assertion")
    }
    let assertion = PlatformAssertion(
      box: box.box, audience: asked.issuer, request: text, provider: asked.provider,
      app: who.app, issued: PlatformAssertion.issued(at: now, for: asked))
    return try Self.signed(assertion.claims, PlatformAssertion.type, box)
  }

  /// Signs a text of this JWT type with the box's key.
  static func signed(
    _ claims: JSONObject, _ type: String, _ box: BoxKeyFile.Kept
  ) throws(CommandError) -> String {
    do throws(KeyError) {
      return try JWS.sign(claims.bytes(), with: box.key, keyID: box.box, type: type)
    } catch {
      throw CommandError(
        "signing with the key of the box's account failed: \(error)",
        hint: "sign in again, which makes a new key: regent sso sign-in --force", code: "account")
    }
  }
}
