/// The responses that the loop makes for one connection before it sends them.
///
/// The fields are in one struct because Swift checks exclusive access at each use of a class's variable.
struct TurnOutput {
  var bytes: [UInt8] = []
  /// The body of the last response if it is too large to be copied into `bytes`.
  private(set) var largeBody: [UInt8] = []
  /// Whether other connections share that large body, so that its bytes are not counted for this connection.
  private(set) var isLargeBodyShared = false

  /// The minimum size of a body that is sent from its own array and not copied into `bytes`.
  private static var largeBodyBytes: Int { 16 * 1024 }
  /// The maximum number of response bytes that are made for one connection before they are sent.
  private static var bytesPerTurn: Int { 128 * 1024 }

  /// Whether the output must be sent before more responses are made.
  var isEnough: Bool { !largeBody.isEmpty || bytes.count > Self.bytesPerTurn }

  mutating func add(_ response: Response, date: [UInt8], toHead: Bool, closes: Bool) {
    // A large body of the previous response must be sent before this response.
    if !largeBody.isEmpty { bytes += largeBody }
    isLargeBodyShared = response.prepared != nil
    largeBody = bytes.append(
      reply: response, date: date, toHead: toHead, closes: closes, keeping: Self.largeBodyBytes)
  }

  mutating func reset() {
    largeBody = []
    // Frees the buffer after a large response, so that the loop does not keep its memory for good.
    if bytes.capacity > 256 * 1024 {
      bytes = []
    } else {
      bytes.removeAll(keepingCapacity: true)
    }
  }
}
