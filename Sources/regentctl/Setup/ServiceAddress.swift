import CommandKit
import RegentHTTPCodec
import RegentPlatform

/// The public address of a service, and the settings that it needs.
struct ServiceAddress {
  /// Where the encryption of the phone's connection (TLS) ends.
  enum Encryption {
    case none
    /// TLS ends at a proxy on this machine.
    case proxy
    case certificate(file: String, key: String)
  }

  let publicURL: AbsoluteURL
  let encryption: Encryption
  /// The address to listen on, if it differs from the default for the public address.
  var listen: String?
  /// The setting REGENT_TRUST_PROXY to keep, if it differs from the default.
  var trusted: String?

  /// The settings that this address needs, with their values; nil for a setting that must be removed.
  var settings: [(name: String, value: String?)] {
    var files: (certificate: String, key: String)?
    var proxies: String?
    switch encryption {
    case .none: break
    case .proxy:
      // Every user of this machine can connect to a TCP port of it, but only some users to a Unix socket.
      proxies = trusted ?? ((listen ?? usualListen).hasPrefix("unix:") ? "unix" : "127.0.0.1/32 ::1/128")
    case .certificate(let file, let key): files = (file, key)
    }
    return [
      ("REGENT_LISTEN", listen ?? usualListen), ("REGENT_PUBLIC_URL", publicURL.description),
      ("REGENT_TRUST_PROXY", proxies), ("REGENT_TLS_CERTIFICATE", files?.certificate),
      ("REGENT_TLS_KEY", files?.key),
    ]
  }

  /// The address that the service listens on with these settings.
  var listening: ListenPlace? { ListenPlace(listen ?? usualListen) }

  private var usualListen: String {
    let port = publicURL.effectivePort ?? 8787
    switch encryption {
    case .proxy: return "unix:/run/regentd-proxy/http.sock"
    case .certificate: return "*:\(port)"
    case .none: return publicURL.host.isLoopback ? "127.0.0.1:\(port)" : "*:\(port)"
    }
  }
}
