import CRegentCurl
import Glibc

extension TLSTransfer {
  /// The client's error for a result code of libcurl.
  func kind(of result: CURLcode) -> ClientError.Kind {
    switch result {
    case CURLE_COULDNT_CONNECT: .unreachable(obstacle)
    case CURLE_COULDNT_RESOLVE_HOST: .unreachable(.lookUpFailed)
    case CURLE_PEER_FAILED_VERIFICATION: .tls(certificateFault)
    case CURLE_SSL_CACERT_BADFILE: .tls(.noAuthorities)
    case CURLE_SSL_CONNECT_ERROR: .tls(.handshake)
    case CURLE_OPERATION_TIMEDOUT: .timedOut(phase)
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: .connectionLost
    case CURLE_OUT_OF_MEMORY: .system("out of memory")
    default: .malformed(nil)
    }
  }

  private var obstacle: ClientError.Obstacle {
    switch CInt(truncatingIfNeeded: info(CURLINFO_OS_ERRNO)) {
    case ECONNREFUSED, ECONNRESET: .refused
    case ETIMEDOUT: .silent
    case ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL: .noRoute
    default: .refused
    }
  }

  /// The fault that a verification error number of OpenSSL means (x509_vfy.h).
  private var certificateFault: ClientError.TLSFault {
    switch info(CURLINFO_SSL_VERIFYRESULT) {
    case 10: .expired
    case 9: .notYetValid
    case 2, 18, 19, 20, 21, 27: .untrusted
    // The numbers 62 to 64 are mismatches of the host name. For 0 and 1 (libcurl's initial value) OpenSSL has not
    // refused the chain, so libcurl's own check of the host name failed.
    case 0, 1, 62, 63, 64: .wrongHost
    default: .refusedCertificate
    }
  }
}
