internal import Glibc
internal import RegentPlatform

/// An output of the process, with its write function and the properties of the terminal.
public struct OutputStream: Sendable {
  public let isTerminal: Bool
  /// The width of the terminal; nil if the stream is none.
  ///
  /// It is read each time, because users resize windows.
  public let columns: @Sendable () -> Int?
  /// Writes all bytes to the stream.
  ///
  /// Returns 0 or the `errno` value.
  public let write: @Sendable ([UInt8]) -> Int32

  public init(
    isTerminal: Bool, columns: @escaping @Sendable () -> Int?,
    write: @escaping @Sendable ([UInt8]) -> Int32
  ) {
    self.isTerminal = isTerminal
    self.columns = columns
    self.write = write
  }

  /// A stream on an open descriptor of this process, such as 1 for standard output.
  public static func descriptor(_ number: Int32) -> OutputStream {
    let isTerminal = Terminal.isTerminal(number)
    return OutputStream(
      isTerminal: isTerminal,
      columns: { isTerminal ? WindowSize(of: number)?.columns ?? 80 : nil },
      write: { writeEverything($0, to: number) })
  }
}

extension OutputStream {
  /// A stream for logs, which drops what the reader does not accept within 20 ms: otherwise a blocked log reader would
  /// block the service.
  ///
  /// Writing returns `EAGAIN` for dropped bytes.
  public static func impatient(_ number: Int32) -> OutputStream {
    let ordinary = descriptor(number)
    let isStuck = Locked(false)
    return OutputStream(isTerminal: ordinary.isTerminal, columns: ordinary.columns) { bytes in
      isStuck.withLock { isStuck in
        var rest = bytes[...]
        while !rest.isEmpty {
          // A pipe that `poll` reports as writable accepts PIPE_BUF bytes without blocking.
          let page = rest.prefix(Int(PIPE_BUF))
          // The stream waits only once for a blocked reader, so that the waits of many lines do not add up.
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
  // Errors of the descriptor are reported by the write that follows.
  return unsafe poll(&wait, 1, milliseconds) != 0
}

/// Collects output in memory, for tests and for callers that need the text.
public final class CapturedText: Sendable {
  private let bytes = Locked<[UInt8]>([])

  public init() {}

  public var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

  /// A stream that writes to this text; with `columns` it counts as a terminal of that width.
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
      // Another process that shares the terminal may have made it non-blocking.
      var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&wait, 1, -1)
    }
  }
  return 0
}
