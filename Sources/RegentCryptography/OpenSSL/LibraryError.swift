internal import CRegentOpenSSL

/// The error when an OpenSSL function failed that should have worked.
public struct LibraryError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The operation that failed, for example "sign".
  public let operation: String
  /// OpenSSL's error messages; they never contain key material.
  public let reasons: [String]

  public var description: String {
    let why = reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; ")
    return "OpenSSL could not \(operation): \(why)"
  }

  /// Takes the reasons from OpenSSL's error queue of this thread, and empties the queue.
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

/// Empties OpenSSL's error queue of this thread after an expected failure, such as a signature that is not valid.
func forgetErrors() {
  ERR_clear_error()
}

/// Throws OpenSSL's errors unless `result` is 1, which means success.
func check(_ result: Int32, _ operation: String) throws(LibraryError) {
  guard result == 1 else { throw LibraryError(operation) }
}

/// Stops the program if OpenSSL fails where the only possible causes are a broken installation and a lack of memory.
func must(_ result: Int32, _ operation: String) {
  guard result == 1 else { stop(LibraryError(operation)) }
}

/// Stops the program with the error as its message.
func stop(_ error: LibraryError) -> Never {
  fatalError(error.description)
}
