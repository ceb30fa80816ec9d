internal import CRegentOpenSSL
internal import RegentPlatform

/// The TLS settings of one listener for new connections; the certificate can be replaced while the server runs.
final class TLSContext: Sendable {
  private let files: TLSFiles
  private let current: Locked<TLSRules>

  init(_ files: TLSFiles) throws(ServerError) {
    self.files = files
    current = Locked(try TLSRules(files))
  }

  /// Reads the certificate files again; open connections keep the certificate with which they began.
  func reload() throws(ServerError) {
    let new = try TLSRules(files)
    current.withLock { $0 = new }
  }

  /// Makes a session on a connected socket; nil if there is not enough memory.
  func newSession(descriptor: Int32) -> TLSSession? {
    TLSSession(rules: current.withLock { $0 }, descriptor: descriptor)
  }
}

/// An immutable SSL_CTX.
///
/// `@unchecked Sendable`, because: 1. it is set up completely in `init`; 2. OpenSSL counts references to it and locks
/// its session state itself.
@safe final class TLSRules: @unchecked Sendable {
  let handle: OpaquePointer

  init(_ files: TLSFiles) throws(ServerError) {
    ERR_clear_error()
    // The first call that initialises OpenSSL decides whether `exit` frees its data. By default it does, also while the
    // loops still use OpenSSL.
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
      throw .resources(reason: "OpenSSL: \(opensslReason())")
    }
    unsafe handle = context
    unsafe SSL_CTX_set_options(context, regent_tls_server_options())
    unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
    // Frees the buffers between records, so that an idle connection uses little memory.
    unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, regent_tls_modes(), nil)
    unsafe SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20")
    unsafe SSL_CTX_set_alpn_select_cb(context, chooseProtocol, nil)
    // An encrypted key must be an error; by default OpenSSL would ask for the password on the terminal.
    unsafe SSL_CTX_set_default_passwd_cb(context, refusePassword)
    guard unsafe SSL_CTX_use_certificate_chain_file(context, files.certificate) == 1 else {
      throw .certificate(file: files.certificate, reason: opensslReason())
    }
    guard unsafe SSL_CTX_use_PrivateKey_file(context, files.key, SSL_FILETYPE_PEM) == 1,
      unsafe SSL_CTX_check_private_key(context) == 1
    else {
      throw .certificate(file: files.key, reason: opensslReason())
    }
  }

  deinit { unsafe SSL_CTX_free(handle) }
}

/// OpenSSL's text for the last error of the calling thread.
private func opensslReason() -> String {
  let code = ERR_get_error()
  ERR_clear_error()
  // Errors of system calls have no text in OpenSSL.
  if code & 0x8000_0000 != 0 { return reasonText(of: Int32(truncatingIfNeeded: code & 0x7FFF_FFFF)) }
  guard let text = unsafe ERR_reason_error_string(code) else { return "error \(code)" }
  return unsafe String(cString: text)
}

private func refusePassword(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isWriting: Int32,
  _ context: UnsafeMutableRawPointer?
) -> Int32 { -1 }

/// OpenSSL's callback for ALPN, which chooses the protocol.
///
/// It accepts only `http/1.1`.
///
/// A client that offers only other protocols gets an alert (RFC 7301).
private func chooseProtocol(
  _ session: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ chosenLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?,
  _ offeredLength: UInt32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let offered = unsafe offered, let chosen = unsafe chosen,
    let chosenLength = unsafe chosenLength
  else { return SSL_TLSEXT_ERR_ALERT_FATAL }
  let list = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredLength))
  let wanted = Array("http/1.1".utf8)
  var at = 0
  while at < list.count {
    let length = Int(unsafe list[at])
    guard at + 1 + length <= list.count else { break }
    if unsafe list[(at + 1)..<(at + 1 + length)].elementsEqual(wanted) {
      unsafe chosen.pointee = offered + at + 1
      unsafe chosenLength.pointee = UInt8(length)
      return SSL_TLSEXT_ERR_OK
    }
    at += 1 + length
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL
}
