internal import CRegentOpenSSL

/// OpenSSL refused to do something that should have worked.
public struct LibraryError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What was being done, for example "sign".
  public let operation: String
  /// What OpenSSL had to say; never contains key material.
  public let reasons: [String]

  /// What failed and why, on one line.
  public var description: String {
    let why = reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; ")
    return "OpenSSL could not \(operation): \(why)"
  }

  /// Takes the reasons from this thread's error queue and empties it.
  init(_ operation: String) {
    self.operation = operation
    var reasons: [String] = []
    while case let code = ERR_get_error(), code != 0 {
      if let reason = unsafe ERR_reason_error_string(code) {
        reasons.append(unsafe String(cString: reason))
      } else {
        reasons.append("error \(code)")
      }
    }
    self.reasons = reasons
  }
}

/// Forgets what OpenSSL noted about an expected failure, such as a signature that does not verify.
func forgetErrors() {
  ERR_clear_error()
}

/// Throws what OpenSSL has to say unless `result` is 1, its way to say yes.
func check(_ result: Int32, _ operation: String) throws(LibraryError) {
  guard result == 1 else { throw LibraryError(operation) }
}

/// Stops the program when OpenSSL fails where only a broken installation or the end of memory can be the reason.
func must(_ result: Int32, _ operation: String) {
  guard result == 1 else { stop(LibraryError(operation)) }
}

/// Ends the program with a sentence.
func stop(_ error: LibraryError) -> Never {
  fatalError(error.description)
}
