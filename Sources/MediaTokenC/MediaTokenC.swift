// MediaTokenC: the verifier for programs in C and whatever can call C. Owns the translation between C strings and
// MediaTokenVerifier, and nothing else; the header beside the example in docs/examples is its other half.
// Why pointers are allowed here, and only here above the tools: docs/decisions/0008-c-interface.md.

import MediaTokenVerifier
import RegentPairing

/// What a C program holds; it lives until `media_token_verifier_free`.
private final class Handle: Sendable {
  let verifier: MediaTokenVerifier

  init(_ verifier: MediaTokenVerifier) { self.verifier = verifier }
}

/// The longest C string that is looked at, in bytes: a token with the longest resource is smaller.
private let longest = 1 << 20

/// A verifier with the keys of a JWK set; NULL when there is none that can be used.
@c(media_token_verifier_from_keys)
public func verifierFromKeys(_ keys: UnsafePointer<CChar>?) -> UnsafeMutableRawPointer? {
  guard let keys = unsafe text(keys) else { return nil }
  return unsafe handle(.text(keys))
}

/// A verifier with the keys of a file that holds a JWK set; NULL when there is none that can be used.
@c(media_token_verifier_from_file)
public func verifierFromFile(_ path: UnsafePointer<CChar>?) -> UnsafeMutableRawPointer? {
  guard let path = unsafe text(path) else { return nil }
  return unsafe handle(.file(path))
}

/// Frees a verifier; NULL is fine.
@c(media_token_verifier_free)
public func verifierFree(_ verifier: UnsafeMutableRawPointer?) {
  guard let verifier = unsafe verifier else { return }
  unsafe Unmanaged<Handle>.fromOpaque(verifier).release()
}

/// Checks a token of one requestor; the number is a `media_token_verdict`.
///
/// A `requestor` that is NULL, empty or not UTF-8 is refused. `resource` may be NULL. `now_ms` is the time to judge by
/// in epoch milliseconds; 0 means the system's clock.
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

/// Checks a token of any requestor: the deprecated form of 0.1.0, which the next release removes.
@c(media_token_verify)
public func verify(
  _ verifier: UnsafeMutableRawPointer?, _ token: UnsafePointer<CChar>?,
  _ resource: UnsafePointer<CChar>?, _ now: Int64
) -> Int32 {
  unsafe verdict(verifier, token, resource) { handle, token, resource in
    handle.verifier.verdictForAnyRequestor(token, resource, instant(now))
  }
}

/// Copies a field of a token with a good signature, ended by NUL, and gives the length that it has without it.
///
/// Fields: `resourceID`, `requestorID`, `timeIssued`, `timeToLive` (milliseconds), `userSessionGUID`, `mvpdId`,
/// `proxyMvpdId`, `keyId`. -1 for any other name, for a field that the token has not, and for a token whose signature
/// is not good. What does not fit is cut.
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
    // A resource that cannot be read is none that a token could be for.
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

/// The text of a C string; none for NULL, for what is no UTF-8, and for what is too long.
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
