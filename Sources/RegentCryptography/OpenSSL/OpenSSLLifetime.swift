internal import CRegentOpenSSL

/// Keeps OpenSSL initialised until the process ends.
///
/// By default, `exit` makes OpenSSL free everything while other threads may still use it; the program then ends with a
/// signal instead of its exit code. The first call that initialises OpenSSL decides this, so every function that may be
/// the first in a process to use OpenSSL calls ``keep()`` before. If an app has initialised OpenSSL before it calls
/// this code, the app's choice holds.
enum OpenSSLLifetime {
  private static let isKept = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

  /// Disables OpenSSL's clean-up at exit; only the first call does any work.
  static func keep() { _ = isKept }
}
