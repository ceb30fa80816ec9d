/// The replies that one turn makes for a connection, until they are sent.
///
/// One value of the loop: whether a variable of an object is used twice at a time is checked at each look at it.
struct TurnOutput {
  var bytes: [UInt8] = []
  /// The body of the last reply, when it is too large to be copied there.
  private(set) var largeBody: [UInt8] = []
  /// Others have that body, too: it costs this connection nothing.
  private(set) var isLargeBodyShared = false

  /// Bodies from this size on are sent from where they are instead of being copied behind their head.
  private static var largeBodyBytes: Int { 16 * 1024 }
  /// How many bytes of replies are made for one connection before they are sent.
  private static var bytesPerTurn: Int { 128 * 1024 }

  /// Whether it is to be sent before more is made.
  var isEnough: Bool { !largeBody.isEmpty || bytes.count > Self.bytesPerTurn }

  mutating func add(_ response: Response, date: [UInt8], toHead: Bool, closes: Bool) {
    // A body that waits behind the others comes before this reply.
    if !largeBody.isEmpty { bytes += largeBody }
    isLargeBodyShared = response.prepared != nil
    largeBody = bytes.append(
      reply: response, date: date, toHead: toHead, closes: closes, keeping: Self.largeBodyBytes)
  }

  mutating func reset() {
    largeBody = []
    // One large reply must not stay in memory for good.
    if bytes.capacity > 256 * 1024 {
      bytes = []
    } else {
      bytes.removeAll(keepingCapacity: true)
    }
  }
}
