import Glibc

/// Reads keys on a separate thread until it is stopped or released, or the terminal ends.
public final class KeyListener: Sendable {
  private let stopping: StopSwitch

  /// If no byte follows an escape byte for this long, the Escape key was pressed.
  private static let escapeMilliseconds: CInt = 50
  /// While this program is in the background: how often it checks whether it is in the terminal's foreground.
  private static let absenceMilliseconds: CInt = 500

  /// Starts reading.
  ///
  /// The terminal should be in mode `.keys` or `.raw`.
  ///
  /// - Parameters:
  ///   - number: the terminal, usually 0; it must stay open while the listener lives.
  ///   - onKey: called on the listener's thread; called once with nil when the terminal has ended.
  /// - Throws: `SystemError` when no descriptor or thread is available.
  public init(on number: CInt, onKey: @escaping @Sendable (Key?) -> Void) throws(SystemError) {
    let stopping = try StopSwitch()
    self.stopping = stopping
    try DedicatedThread.start(named: "keys") {
      // SIGTTIN is blocked. Otherwise the kernel stops the program when it reads from the terminal in the background.
      block([Signal(number: SIGTTIN)])
      var decoder = KeyDecoder()
      while true {
        let patience = decoder.isWaiting ? KeyListener.escapeMilliseconds : -1
        switch stopping.waits(for: number, milliseconds: patience) {
        case .stopped: return
        case .timedOut:
          for key in decoder.flush() { onKey(key) }
        case .ready:
          let bytes = TerminalRescue.isInFront(number) ? KeyListener.read(number) : nil
          guard let bytes, !bytes.isEmpty else {
            if TerminalRescue.isInFront(number) { return onKey(nil) }
            // The program is in the background. The shell in the foreground gets the keys.
            if stopping.waits(for: -1, milliseconds: KeyListener.absenceMilliseconds) == .stopped {
              return
            }
            continue
          }
          for key in decoder.feed(bytes) { onKey(key) }
        }
      }
    }
  }

  deinit { stop() }

  /// Ends the listener's thread.
  ///
  /// Keys pressed later stay in the terminal's input.
  public func stop() { stopping.stop() }

  /// Receives keys as an asynchronous sequence.
  ///
  /// The listener stops when the iteration ends.
  ///
  /// - Parameter number: the terminal, usually 0.
  /// - Returns: the keys in order. The sequence ends with the terminal.
  /// - Throws: `SystemError` when no descriptor or thread is available.
  public static func stream(on number: CInt) throws(SystemError) -> AsyncStream<Key> {
    let (stream, continuation) = AsyncStream.makeStream(of: Key.self)
    let listener = try KeyListener(on: number) { key in
      if let key { continuation.yield(key) } else { continuation.finish() }
    }
    continuation.onTermination = { _ in listener.stop() }
    return stream
  }

  private static func read(_ number: CInt) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = try? systemCall("read", on: "the terminal") {
      unsafe Glibc.read(number, &bytes, bytes.count)
    }
    guard let count else { return nil }
    return Array(bytes.prefix(count))
  }
}
