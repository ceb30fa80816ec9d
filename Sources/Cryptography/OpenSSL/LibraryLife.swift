internal import COpenSSL

/// How long OpenSSL lives in this process.
public enum LibraryLife {
  /// Keeps the library whole until the process is gone; call it before anything else is computed.
  ///
  /// Otherwise `exit` frees what other threads are still computing with, and the program ends with a signal instead of
  /// its exit code.
  public static func untilTheEnd() {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
