internal import RegentHTTPCodec

extension [UInt8] {
  /// Appends the status line, the handler's header lines and Content-Length.
  mutating func appendHead(of response: Response) {
    append(statusLineOf: response.status)
    append(contentsOf: response.fieldLines)
    // RFC 9110 section 8.6: responses with 1xx and 204 have no Content-Length. In a 304 the length could be wrong, so
    // it is left out too.
    guard !response.status.forbidsBody else { return }
    self += "Content-Length: ".utf8
    append(decimal: response.body.count)
    self += "\r\n".utf8
  }

  /// Appends the whole response to one request.
  ///
  /// A body of at least `apart` bytes is not copied. It is returned, and the caller sends it after the appended bytes.
  mutating func append(
    reply response: Response, date: [UInt8], toHead: Bool, closes: Bool, keeping apart: Int = .max
  ) -> [UInt8] {
    let (body, status): ([UInt8], Status)
    if let prepared = response.prepared {
      append(contentsOf: prepared.head)
      append(contentsOf: response.fieldLines)
      (body, status) = (prepared.body, prepared.status)
    } else {
      appendHead(of: response)
      (body, status) = (response.body, response.status)
    }
    append(contentsOf: date)
    self += closes ? "Connection: close\r\n\r\n".utf8 : "\r\n".utf8
    if toHead || status.forbidsBody { return [] }
    if body.count >= apart { return body }
    append(contentsOf: body)
    return []
  }

  private mutating func append(statusLineOf status: Status) {
    if status == .ok {
      self += "HTTP/1.1 200 OK\r\n".utf8
      return
    }
    self += "HTTP/1.1 ".utf8
    append(decimal: Int(status.rawValue))
    append(0x20)
    self += status.reason.utf8
    self += "\r\n".utf8
  }

  mutating func append(decimal number: Int) {
    var divisor = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(truncatingIfNeeded: 0x30 + number / divisor % 10))
      divisor /= 10
    }
  }
}
