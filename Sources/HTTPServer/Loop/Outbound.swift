/// What a socket did not take yet: pieces in the order they go out.
///
/// A large body stays the array it was made as: a thousand clients that read one file slowly share one copy of it.
struct Outbound {
  private var pieces: [[UInt8]] = []
  /// How much of the first piece is sent.
  private(set) var start = 0
  /// How many bytes are held for this client alone.
  private(set) var ownBytes = 0

  var isEmpty: Bool { pieces.isEmpty }

  /// The piece to send from `start` on; empty when there is none.
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
