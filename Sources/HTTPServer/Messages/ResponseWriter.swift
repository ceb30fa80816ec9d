internal import RegentHTTPCodec

extension [UInt8] {
  /// Status line, the handler's field lines and Content-Length.
  mutating func appendHead(of response: Response) {
    append(statusLineOf: response.status)
    append(contentsOf: response.fieldLines)
    // RFC 9110 section 8.6: no Content-Length in 1xx and 204; in 304 it could only be wrong.
    guard !response.status.forbidsBody else { return }
    self += "Content-Length: ".utf8
    append(decimal: response.body.count)
    self += "\r\n".utf8
  }

  /// Everything the client gets for one request.
  ///
  /// A body of `apart` bytes or more is not copied but returned, to be sent behind this.
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
