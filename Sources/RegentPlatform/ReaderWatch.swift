internal import Glibc

/// Notices that nobody reads any more what this program writes: the other end of a pipe was closed.
///
/// A program that waits writes nothing for hours, so without this it would wait for nobody.
public final class ReaderWatch: Sendable {
  private let stopping: StopSwitch

  /// Starts watching; a terminal that hangs up is noticed, too, a file never ends.
  ///
  /// - Parameters:
  ///   - number: the descriptor that is written to; it must stay open while the watch lives.
  ///   - onEnd: called once, on the watch's thread.
  /// - Throws: `SystemError` when no descriptor or thread is left.
  public init(on number: CInt, onEnd: @escaping @Sendable () -> Void) throws(SystemError) {
    let stopping = try StopSwitch()
    self.stopping = stopping
    try DedicatedThread.start(named: "reader") {
      if stopping.waits(for: number, events: 0) == .ready { onEnd() }
    }
  }

  deinit { stop() }

  /// Ends the watch.
  public func stop() { stopping.stop() }
}
