import RegentCryptography
import RegentHTTPCodec
import RegentPairing
import RegentPairingWire

/// Signs requests with a key pair (docs/protocol.md, "The signed header").
struct CallSigner: Sendable {
  private let publicKey: PublicKey
  private let key: HMACKey
  private let method: SignatureMethod

  /// - Throws: a failure with a message if the key pair is invalid.
  init(
    publicKey: String, secret: Secret, method: CallSignature
  ) throws(ServiceFailure) {
    guard let id = PublicKey(publicKey) else {
      throw ServiceFailure(kind: .registration, message: "the public key cannot be one")
    }
    self.publicKey = id
    self.method = method == .hmacSHA1 ? .hmacSHA1 : .hmacSHA256
    do throws(KeyError) {
      key = try HMACKey(method == .hmacSHA1 ? .sha1 : .sha256, secret)
    } catch {
      throw ServiceFailure(kind: .registration, message: "the secret is empty")
    }
  }

  /// The `Authorization` header of one request, with a new nonce.
  func header(
    _ call: WireCall, requestor: RequestorID, at now: Instant
  ) -> String {
    let text = SignedHeader.textToSign(
      method: call.method.token, requestor: requestor, nonce: Random.uuid(),
      signatureMethod: method, requestTime: now, requestURI: call.path)
    return SignedHeader.header(textToSign: text, publicKey: publicKey, signature: key.code(text))
  }
}

extension ServiceFailure: Error {}
