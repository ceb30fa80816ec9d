internal import Glibc

/// Notices that the reader of this program's output has gone, because the other end of the pipe was closed.
///
/// A waiting program may write nothing for hours. Without this watch it would wait for ever although its reader has
/// ended.
public final class ReaderWatch: Sendable {
  private let stopping: StopSwitch

  /// Starts watching.
  ///
  /// A terminal that hangs up counts too; a regular file never ends.
  ///
  /// - Parameters:
  ///   - number: the descriptor that is written to; it must stay open while the watch lives.
  ///   - onEnd: called once, on the watch's thread.
  /// - Throws: `SystemError` when no descriptor or thread is available.
  public init(on number: CInt, onEnd: @escaping @Sendable () -> Void) throws(SystemError) {
    let stopping = try StopSwitch()
    self.stopping = stopping
    try DedicatedThread.start(named: "reader") {
      if stopping.waits(for: number, events: 0) == .ready { onEnd() }
    }
  }

  deinit { stop() }

  /// Ends the watch of the reader.
  public func stop() { stopping.stop() }
}
