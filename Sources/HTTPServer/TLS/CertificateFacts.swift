internal import CRegentOpenSSL
internal import Glibc

/// Facts about a certificate, read from its files as the next start of the server would.
public struct CertificateFacts: Sendable, Hashable {
  /// When the certificate begins to be valid, in seconds since 1970.
  public let begins: Int64
  /// When the certificate stops being valid, in seconds since 1970.
  public let ends: Int64
  /// The DNS names and IP addresses for which the certificate is valid.
  public let names: [String]
  /// Whether the certificate is valid for the given host; nil if no host was given.
  public let isForHost: Bool?
  /// Why the certificate does not chain to an authority that this machine trusts; nil if it does.
  public let chainProblem: String?
  /// The SHA-256 fingerprint of the certificate.
  public let fingerprint: [UInt8]

  /// Reads the facts about a certificate from its files.
  ///
  /// - Parameters:
  ///   - files: a certificate and its key.
  ///   - host: the host that clients open, a name or an IP address.
  /// - Throws: ``ServerError/certificate(file:reason:)`` for files that the server refuses at start, for example if
  ///   the key belongs to another certificate.
  public init(of files: TLSFiles, host: String?) throws(ServerError) {
    let rules = try TLSRules(files)
    guard let certificate = unsafe SSL_CTX_get0_certificate(rules.handle),
      let begins = unsafe X509_get0_notBefore(certificate).flatMap(seconds),
      let ends = unsafe X509_get0_notAfter(certificate).flatMap(seconds)
    else { throw .certificate(file: files.certificate, reason: "its dates cannot be read") }
    (self.begins, self.ends) = (begins, ends)
    names = unsafe Self.names(of: certificate)
    isForHost = host.map { host in
      unsafe X509_check_ip_asc(certificate, host, 0) == 1
        || X509_check_host(certificate, host, host.utf8.count, 0, nil) == 1
    }
    let error = unsafe regent_certificate_chain_error(rules.handle)
    chainProblem = error == 0 ? nil : unsafe String(cString: X509_verify_cert_error_string(Int(error)))
    var hash = [UInt8](repeating: 0, count: 32)
    let isHashed = unsafe hash.withUnsafeMutableBufferPointer { bytes in
      unsafe X509_digest(certificate, EVP_sha256(), bytes.baseAddress, nil)
    }
    fingerprint = isHashed == 1 ? hash : []
    ERR_clear_error()
  }

  private static func names(of certificate: OpaquePointer) -> [String] {
    var names: [String] = []
    // At most 100 names are read. More would not help in a message.
    for place in 0..<100 {
      var text = [CChar](repeating: 0, count: 256)
      let length = unsafe text.withUnsafeMutableBufferPointer { text in
        unsafe regent_certificate_name(certificate, Int32(place), text.baseAddress, Int32(text.count))
      }
      if length < 0 { break }
      if length > 0 { names.append(String(decoding: text[..<Int(length)].map(UInt8.init(bitPattern:)), as: UTF8.self)) }
    }
    return names
  }
}

/// A time of a certificate, in seconds since 1970.
private func seconds(_ time: UnsafePointer<ASN1_TIME>) -> Int64? {
  var parts = unsafe tm()
  guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
  return Int64(unsafe timegm(&parts))
}
