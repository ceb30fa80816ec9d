import CRegentCurl
import Glibc

extension TLSTransfer {
  /// What libcurl's verdict means to a person.
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

  /// OpenSSL's numbers for why a certificate was refused (x509_vfy.h).
  private var certificateFault: ClientError.TLSFault {
    switch info(CURLINFO_SSL_VERIFYRESULT) {
    case 10: .expired
    case 9: .notYetValid
    case 2, 18, 19, 20, 21, 27: .untrusted
    // No verdict on the chain (libcurl leaves 1 there), so its own comparison of the name was the objection.
    case 0, 1, 62, 63, 64: .wrongHost
    default: .refusedCertificate
    }
  }
}
