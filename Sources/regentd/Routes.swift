import HTTPCodec
import HTTPServer
import PairingService

extension ServiceLog {
  /// The service's lines in the program's log.
  init(_ log: Log) {
    self.init { level, event, fields in
      switch level {
      case .error: log.line(.error, event, fields)
      case .warning: log.line(.warning, event, fields)
      case .info: log.line(.info, event, fields)
      }
    }
  }
}

/// What every reply carries.
func standingHeaders(isHTTPS: Bool) -> StandingHeaders {
  var headers = StandingHeaders()
  for (name, value) in SecurityHeaders(https: isHTTPS).list {
    guard let name = HeaderName(name) else { continue }
    headers.add(name, value)
  }
  return headers
}
