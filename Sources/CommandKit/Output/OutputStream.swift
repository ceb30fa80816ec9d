internal import Glibc
internal import RegentPlatform

/// One end of a console: where bytes go, and what is known about the other side.
public struct OutputStream: Sendable {
  /// Whether people look at it.
  public let isTerminal: Bool
  /// The width when people look at it; asked each time, because windows change.
  public let columns: @Sendable () -> Int?
  /// Writes everything; gives 0 or the kernel's number for what went wrong.
  public let write: @Sendable ([UInt8]) -> Int32

  /// A stream of one's own.
  public init(
    isTerminal: Bool, columns: @escaping @Sendable () -> Int?,
    write: @escaping @Sendable ([UInt8]) -> Int32
  ) {
    self.isTerminal = isTerminal
    self.columns = columns
    self.write = write
  }

  /// An open descriptor of this process, such as 1 for standard output.
  public static func descriptor(_ number: Int32) -> OutputStream {
    let isTerminal = Terminal.isTerminal(number)
    return OutputStream(
      isTerminal: isTerminal,
      columns: { isTerminal ? WindowSize(of: number)?.columns ?? 80 : nil },
      write: { writeEverything($0, to: number) })
  }
}

extension OutputStream {
  /// A descriptor for a log: what the other side does not take soon is dropped, because a service that waits for the
  /// reader of its log stands still with it.
  ///
  /// Writing gives `EAGAIN` for what was dropped.
  public static func impatient(_ number: Int32) -> OutputStream {
    let ordinary = descriptor(number)
    let isStuck = Locked(false)
    return OutputStream(isTerminal: ordinary.isTerminal, columns: ordinary.columns) { bytes in
      isStuck.withLock { isStuck in
        var rest = bytes[...]
        while !rest.isEmpty {
          // A pipe that is ready takes a page without waiting.
          let page = rest.prefix(Int(PIPE_BUF))
          // Waited for once only: many lines at once must not add their waits up.
          isStuck = !isReady(number, patience: isStuck ? 0 : 20)
          guard !isStuck else { return EAGAIN }
          let failure = ordinary.write(Array(page))
          guard failure == 0 else { return failure }
          rest = rest.dropFirst(page.count)
        }
        return 0
      }
    }
  }
}

private func isReady(_ descriptor: Int32, patience milliseconds: Int32) -> Bool {
  var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
  // An error shows at the write itself.
  return unsafe poll(&wait, 1, milliseconds) != 0
}

/// What was written, for tests and for output that is wanted as a text.
public final class CapturedText: Sendable {
  private let bytes = Locked<[UInt8]>([])

  /// Nothing written yet.
  public init() {}

  /// All that was written.
  public var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

  /// A stream that writes here; with `columns` it is taken for a terminal.
  public func stream(columns: Int? = nil) -> OutputStream {
    OutputStream(isTerminal: columns != nil, columns: { columns }) { written in
      self.bytes.withLock { $0 += written }
      return 0
    }
  }
}

private func writeEverything(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
  var rest = bytes[...]
  while !rest.isEmpty {
    do throws(SystemError) {
      let count = try systemCall("write") {
        unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      }
      rest = rest.dropFirst(count)
    } catch {
      guard error.code == EAGAIN else { return error.code }
      // Somebody who shares the terminal made it non-blocking.
      var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&wait, 1, -1)
    }
  }
  return 0
}
