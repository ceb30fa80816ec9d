// MediaTokenC: the C interface of MediaTokenVerifier, for C and every language that can call C. Only converts between C
// strings and Swift values. The header file is in docs/examples/verify-media-token.
// docs/decisions/0008-c-interface.md says why this target may use pointers, as the only one above the tools.

import MediaTokenVerifier
import RegentPairing

/// The object behind the opaque pointer of a C program.
///
/// It lives until `media_token_verifier_free`.
private final class Handle: Sendable {
  let verifier: MediaTokenVerifier

  init(_ verifier: MediaTokenVerifier) { self.verifier = verifier }
}

/// The longest C string that is read, in bytes.
///
/// A token with the longest resource is shorter.
private let longest = 1 << 20

/// Creates a verifier from the text of a JWK set.
///
/// Returns NULL if the set has no usable key.
@c(media_token_verifier_from_keys)
public func verifierFromKeys(_ keys: UnsafePointer<CChar>?) -> UnsafeMutableRawPointer? {
  guard let keys = unsafe text(keys) else { return nil }
  return unsafe handle(.text(keys))
}

/// Creates a verifier from a file with a JWK set.
///
/// Returns NULL if the file cannot be read or has no usable key.
@c(media_token_verifier_from_file)
public func verifierFromFile(_ path: UnsafePointer<CChar>?) -> UnsafeMutableRawPointer? {
  guard let path = unsafe text(path) else { return nil }
  return unsafe handle(.file(path))
}

/// Frees a verifier.
///
/// NULL is allowed.
@c(media_token_verifier_free)
public func verifierFree(_ verifier: UnsafeMutableRawPointer?) {
  guard let verifier = unsafe verifier else { return }
  unsafe Unmanaged<Handle>.fromOpaque(verifier).release()
}

/// Checks a token of one requestor and returns a `media_token_verdict`.
///
/// A `requestor` that is NULL, empty or not UTF-8 is refused. If `resource` is NULL, a token for any resource is
/// accepted. `now_ms` is the time to check against in epoch milliseconds; 0 means the system's clock.
@c(media_token_verify_for)
public func verifyFor(
  _ verifier: UnsafeMutableRawPointer?, _ token: UnsafePointer<CChar>?,
  _ requestor: UnsafePointer<CChar>?, _ resource: UnsafePointer<CChar>?, _ now: Int64
) -> Int32 {
  guard let requestor = unsafe text(requestor) else { return MediaTokenVerdict.invalidRequestor.rawValue }
  return unsafe verdict(verifier, token, resource) { handle, token, resource in
    handle.verifier.verifyNow(token, requestor: requestor, resource: resource, at: instant(now)).verdict
  }
}

/// Checks a token and accepts every requestor.
///
/// Deprecated since 0.1.0; the next release removes it.
@c(media_token_verify)
public func verify(
  _ verifier: UnsafeMutableRawPointer?, _ token: UnsafePointer<CChar>?,
  _ resource: UnsafePointer<CChar>?, _ now: Int64
) -> Int32 {
  unsafe verdict(verifier, token, resource) { handle, token, resource in
    handle.verifier.verdictForAnyRequestor(token, resource, instant(now))
  }
}

/// Copies a field of a token with a valid signature into the buffer, ended by NUL.
///
/// Returns the field's length without the NUL.
///
/// The fields are `resourceID`, `requestorID`, `timeIssued`, `timeToLive` (milliseconds), `userSessionGUID`, `mvpdId`,
/// `proxyMvpdId` and `keyId`. A value that does not fit is truncated, so a caller compares the result with its buffer
/// size. Returns -1 for any other name, for a field that the token does not have, and for a token whose signature is
/// not valid.
@c(media_token_field)
public func field(
  _ verifier: UnsafeMutableRawPointer?, _ token: UnsafePointer<CChar>?,
  _ name: UnsafePointer<CChar>?, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
  guard let verifier = unsafe verifier, let token = unsafe text(token),
    let name = unsafe text(name),
    let contents = unsafe Unmanaged<Handle>.fromOpaque(verifier).takeUnretainedValue().verifier.contents(of: token),
    let value = contents.field(name)
  else { return -1 }
  let bytes = Array(value.utf8)
  if let buffer = unsafe buffer, size > 0 {
    let count = min(bytes.count, size - 1)
    for place in 0..<count { unsafe buffer[place] = CChar(truncatingIfNeeded: bytes[place]) }
    unsafe buffer[count] = 0
  }
  return bytes.count
}

private func handle(_ keys: MediaTokenKeys) -> UnsafeMutableRawPointer? {
  let verifier = MediaTokenVerifier(keys: keys)
  guard verifier.hasKeys else { return nil }
  return unsafe Unmanaged.passRetained(Handle(verifier)).toOpaque()
}

private func verdict(
  _ verifier: UnsafeMutableRawPointer?, _ token: UnsafePointer<CChar>?, _ resource: UnsafePointer<CChar>?,
  _ check: (Handle, String, String?) -> MediaTokenVerdict
) -> Int32 {
  guard let verifier = unsafe verifier else { return MediaTokenVerdict.unknown.rawValue }
  guard let token = unsafe text(token) else { return MediaTokenVerdict.invalidFormat.rawValue }
  var wanted: String?
  if unsafe resource != nil {
    // A resource that is too long or not UTF-8 cannot be the resource of any token.
    guard let given = unsafe text(resource) else {
      return MediaTokenVerdict.invalidResource.rawValue
    }
    wanted = given
  }
  return check(unsafe Unmanaged<Handle>.fromOpaque(verifier).takeUnretainedValue(), token, wanted).rawValue
}

private func instant(_ milliseconds: Int64) -> Instant? {
  milliseconds == 0 ? nil : Instant(milliseconds: milliseconds)
}

/// Converts a C string.
///
/// Returns `nil` for NULL, for text that is not UTF-8, and for text over ``longest`` bytes.
private func text(_ string: UnsafePointer<CChar>?) -> String? {
  guard let string = unsafe string else { return nil }
  var count = 0
  while unsafe string[count] != 0 {
    count += 1
    guard count <= longest else { return nil }
  }
  let bytes = unsafe UnsafeBufferPointer(start: string, count: count)
  return unsafe String(validating: bytes, as: UTF8.self)
}

extension MediaTokenContents {
  fileprivate func field(_ name: String) -> String? {
    switch name {
    case "resourceID": resourceID
    case "requestorID": requestorID
    case "timeIssued": String(timeIssued.milliseconds)
    case "timeToLive": String(timeToLive.wholeMilliseconds)
    case "userSessionGUID": userSessionGUID
    case "mvpdId": mvpdID
    case "proxyMvpdId": proxyMvpdID
    case "keyId": keyID
    default: nil
    }
  }
}
