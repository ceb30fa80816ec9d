import CommandKit
import RegentHTTPCodec
import RegentPlatform

/// How phones reach a service: what its settings file has to say for that.
struct ServiceAddress {
  /// Who ends TLS.
  enum Encryption {
    case none
    /// A proxy on this machine.
    case proxy
    case certificate(file: String, key: String)
  }

  let publicURL: AbsoluteURL
  let encryption: Encryption
  /// Another address to listen on than the one that follows from the rest.
  var listen: String?
  /// The proxies that the settings trust already, when another value than the usual one is to stay.
  var trusted: String?

  /// The settings with their values; none for those that must not be there.
  var settings: [(name: String, value: String?)] {
    var files: (certificate: String, key: String)?
    var proxies: String?
    switch encryption {
    case .none: break
    case .proxy:
      // Every user of this machine can connect to a port of it, and to no socket that its file keeps from him.
      proxies = trusted ?? ((listen ?? usualListen).hasPrefix("unix:") ? "unix" : "127.0.0.1/32 ::1/128")
    case .certificate(let file, let key): files = (file, key)
    }
    return [
      ("REGENT_LISTEN", listen ?? usualListen), ("REGENT_PUBLIC_URL", publicURL.description),
      ("REGENT_TRUST_PROXY", proxies), ("REGENT_TLS_CERTIFICATE", files?.certificate),
      ("REGENT_TLS_KEY", files?.key),
    ]
  }

  /// What the service listens on with these settings.
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
