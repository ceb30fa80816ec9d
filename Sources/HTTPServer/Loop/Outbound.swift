/// The output that a socket has not taken yet, as pieces in the order in which they are sent.
///
/// A large body stays in its original array, so that a thousand clients that read one file slowly share one copy of it.
struct Outbound {
  private var pieces: [[UInt8]] = []
  /// The number of bytes of the first piece that were already sent.
  private(set) var start = 0
  /// The number of stored bytes that no other client shares.
  private(set) var ownBytes = 0

  var isEmpty: Bool { pieces.isEmpty }

  /// The piece that is sent next; empty if there is none.
  ///
  /// The caller must skip its first `start` bytes, which were already sent.
  var first: [UInt8] { pieces.first ?? [] }

  mutating func append(_ piece: [UInt8], from sent: Int = 0, isShared: Bool = false) {
    guard sent < piece.count else { return }
    if pieces.isEmpty { start = sent }
    pieces.append(piece)
    if !isShared { ownBytes += piece.count }
  }

  mutating func advance(_ count: Int) {
    start += count
    guard let piece = pieces.first, start >= piece.count else { return }
    start = 0
    pieces.removeFirst()
    if pieces.isEmpty { ownBytes = 0 }
  }
}
