internal import RegentCryptography
internal import RegentPairing
internal import RegentPairingWire
internal import RegentPlatform
internal import TestSupport

// Signed calls for wrk. They are signed beforehand, because the rows measure the checking and not the signing.

/// Signs calls of the benchmark's requestor, each with a new nonce.
struct CallSigner {
  private let name: String
  private let key: HMACKey
  private let requestor: RequestorID
  private let publicKeys: [PublicKey]
  private var number = 0

  init(name: String) throws {
    self.name = name
    key = try HMACKey(.sha256, Secret(BenchKeys.secret))
    guard let requestor = RequestorID(BenchKeys.requestor) else { throw TestSupportError("name") }
    self.requestor = requestor
    publicKeys = (0..<BenchKeys.count).compactMap { PublicKey(BenchKeys.publicKey($0)) }
  }

  mutating func header(method: String, path: String, key place: Int, ahead: Duration = .zero) -> String {
    number += 1
    let text = SignedHeader.textToSign(
      method: method, requestor: requestor, nonce: "\(name)-\(number)", signatureMethod: .hmacSHA256,
      requestTime: Instant(milliseconds: Clocks.wallMilliseconds()) + ahead, requestURI: path)
    return SignedHeader.header(
      textToSign: text, publicKey: publicKeys[place % publicKeys.count], signature: key.code(text))
  }
}

/// Writes a script for wrk that sends prepared signed requests, with all keys in turn or a fixed one, signed for now or
/// a later time, and either each once or endlessly.
func writeSignedCalls(
  _ count: Int, method: String, path: String, folder: String, name: String,
  ahead: Duration = .zero, key fixed: Int? = nil, endless: Bool = false, target: (Int) -> String
) throws -> String {
  let file = "\(folder)/\(name).calls"
  var signer = try CallSigner(name: name)
  var lines: [UInt8] = []
  lines.reserveCapacity(count * 320)
  for number in 0..<count {
    let header = signer.header(method: method, path: path, key: fixed ?? number, ahead: ahead)
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
      if not line then
        \(endless ? "lines = io.lines(\"\(file)\") line = lines()" : #"wrk.thread:stop() return wrk.format("GET", "/healthz")"#)
      end
      local tab = string.find(line, "\\t", 1, true)
      return "\(method) " .. string.sub(line, 1, tab - 1) .. " HTTP/1.1\\r\\nHost: bench\\r\\nContent-Length: 0\\r\\nAuthorization: "
        .. string.sub(line, tab + 1) .. "\\r\\n\\r\\n"
    end

    """.utf8)
  return script
}
