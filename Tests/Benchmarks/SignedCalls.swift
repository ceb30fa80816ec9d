internal import RegentCryptography
internal import RegentPairing
internal import RegentPairingWire
internal import RegentPlatform
internal import TestSupport

// Calls for wrk: signed beforehand, because what counts is what checking them costs, not what making them does.

/// A script for wrk that sends one prepared line of headers after another, each once: by all keys in turn or by a fixed
/// one, signed now or for a time ahead.
func writeSignedCalls(
  _ count: Int, method: String, path: String, folder: String, name: String,
  ahead: Duration = .zero, key fixed: Int? = nil, target: (Int) -> String
) throws -> String {
  let file = "\(folder)/\(name).calls"
  let key = try HMACKey(.sha256, Secret(BenchKeys.secret))
  guard let requestor = RequestorID(BenchKeys.requestor) else { throw TestSupportError("name") }
  var lines: [UInt8] = []
  lines.reserveCapacity(count * 320)
  let now = Instant(milliseconds: Clocks.wallMilliseconds()) + ahead
  for number in 0..<count {
    let text = SignedHeader.textToSign(
      method: method, requestor: requestor, nonce: "\(name)-\(number)",
      signatureMethod: .hmacSHA256, requestTime: now, requestURI: path)
    guard let publicKey = PublicKey(BenchKeys.publicKey(fixed ?? number)) else { continue }
    let header = SignedHeader.header(
      textToSign: text, publicKey: publicKey, signature: key.code(text))
    lines += "\(target(number))\t\(header)\n".utf8
  }
  try writeFile(file, lines)
  let script = "\(folder)/\(name).lua"
  try writeFile(
    script,
    """
    local lines = io.lines("\(file)")
    function request()
      local line = lines()
      if not line then wrk.thread:stop() return wrk.format("GET", "/healthz") end
      local tab = string.find(line, "\\t", 1, true)
      return "\(method) " .. string.sub(line, 1, tab - 1) .. " HTTP/1.1\\r\\nHost: bench\\r\\nContent-Length: 0\\r\\nAuthorization: "
        .. string.sub(line, tab + 1) .. "\\r\\n\\r\\n"
    end

    """.utf8)
  return script
}
