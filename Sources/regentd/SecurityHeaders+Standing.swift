import HTTPServer
import PairingService
import RegentHTTPCodec

/// The headers that every response has.
func standingHeaders(isHTTPS: Bool) -> CommonHeaders {
  var headers = CommonHeaders()
  for (name, value) in SecurityHeaders(https: isHTTPS).list {
    guard let name = HeaderName(name) else { continue }
    headers.add(name, value)
  }
  return headers
}
