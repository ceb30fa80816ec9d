internal import RegentHTTPCodec

extension Response {
  /// The bytes of the response as they are sent, with a fixed date, for tests that call a handler without a server.
  package func wireBytes(toHead: Bool) -> [UInt8] {
    let sound = isFaulty ? Response(.internalServerError) : self
    var bytes: [UInt8] = []
    _ = bytes.append(
      reply: sound, date: Array("Date: \(HTTPDate.text(epochSeconds: 0))\r\n".utf8), toHead: toHead,
      closes: sound.closesConnection)
    return bytes
  }
}
