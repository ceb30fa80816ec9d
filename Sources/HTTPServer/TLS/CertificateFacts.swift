internal import CRegentOpenSSL
internal import Glibc

/// What a certificate says of itself, read from its files as the next start would.
public struct CertificateFacts: Sendable, Hashable {
  /// The first moment at which it counts, in seconds since 1970.
  public let begins: Int64
  /// The last one.
  public let ends: Int64
  /// The DNS names and IP addresses that it is for.
  public let names: [String]
  /// Whether it is for the host that was named; nil when none was.
  public let isForHost: Bool?
  /// Why this machine's authorities do not lead to it; nil when they do.
  public let chainProblem: String?
  /// Its SHA-256.
  public let fingerprint: [UInt8]

  /// Reads the files.
  ///
  /// - Parameters:
  ///   - files: a certificate and its key.
  ///   - host: the host that clients open, a name or an IP address.
  /// - Throws: ``ServerError/certificate(file:reason:)`` for files that a start would refuse, such as a key of another
  ///   certificate.
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
    // More names than these are no help in a message.
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
