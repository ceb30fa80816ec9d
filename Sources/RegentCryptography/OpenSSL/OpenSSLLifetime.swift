internal import CRegentOpenSSL

/// How long OpenSSL lives in this process: until its end.
///
/// By default OpenSSL has `exit` free everything that it holds, while other threads still compute with it, and the
/// program ends with a signal instead of its exit code. Whoever starts the library decides that, so every function that
/// may be the first of a process to use it calls ``keep()`` before. An app that has started OpenSSL itself before it
/// calls us has decided for us.
enum OpenSSLLifetime {
  private static let isKept = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

  /// Keeps the library whole until the process is gone; costs nothing but the first time.
  static func keep() { _ = isKept }
}
