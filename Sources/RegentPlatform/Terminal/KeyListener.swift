import Glibc

/// Reads keys on a thread of its own until it is stopped, let go, or the terminal ends.
public final class KeyListener: Sendable {
  private let stopping: StopSwitch

  /// An escape byte that nothing follows for so long was the escape key.
  private static let escapeMilliseconds: CInt = 50
  /// How often it is asked whether a terminal that another program has is ours again.
  private static let absenceMilliseconds: CInt = 500

  /// Starts reading; the terminal should be in mode `.keys` or `.raw`.
  ///
  /// - Parameters:
  ///   - number: the terminal, usually 0; it must stay open while the listener lives.
  ///   - onKey: called on the listener's thread; `nil` once when the terminal has ended.
  /// - Throws: `SystemError` when no descriptor or thread is left.
  public init(on number: CInt, onKey: @escaping @Sendable (Key?) -> Void) throws(SystemError) {
    let stopping = try StopSwitch()
    self.stopping = stopping
    try DedicatedThread.start(named: "keys") {
      // Reading in the background would stop the program.
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
            // The keys are the shell's.
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

  /// Ends the thread; keys pressed from now on stay in the terminal.
  public func stop() { stopping.stop() }

  /// The same as an asynchronous sequence; ending the iteration stops the listener.
  ///
  /// - Parameter number: the terminal, usually 0.
  /// - Returns: the keys as they come; it ends with the terminal.
  /// - Throws: `SystemError` when no descriptor or thread is left.
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
