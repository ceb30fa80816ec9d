import CPostgreSQL
import Glibc

/// One exchange over a connection: sends all commands together and reads their answers, by a deadline.
@safe struct Wire {
  private let handle: OpaquePointer
  private let library: ClientLibrary
  private let bells: Bells
  private let deadline: Deadline

  init(_ handle: OpaquePointer, _ library: ClientLibrary, _ bells: Bells, _ deadline: Deadline) {
    unsafe self.handle = unsafe handle
    self.library = library
    self.bells = bells
    self.deadline = deadline
  }

  /// Sends the commands and returns the result of each.
  ///
  /// The server does not run commands after one that has failed.
  func exchange(_ commands: [Command]) throws(PostgreSQLError) -> [ResultHandle] {
    guard unsafe library.enterPipeline(handle) == 1 else { throw lost }
    for command in commands {
      guard send(command) == 1 else { throw lost }
    }
    guard unsafe library.pipelineSync(handle) == 1 else { throw lost }
    try flush()
    var results: [ResultHandle] = []
    for _ in commands {
      guard let result = try next() else { throw lost }
      results.append(result)
      // The server has ended the connection. No further result follows, and this result says why.
      if result.status == PGRES_FATAL_ERROR, unsafe library.status(handle) != CONNECTION_OK {
        throw result.error(nil) ?? lost
      }
      guard try next() == nil else { throw PostgreSQLError(.misuse, "a statement gave more than one result") }
    }
    var end = try next()
    // Outside a transaction the commands form one transaction, whose COMMIT is answered here. It may fail although each
    // command succeeded.
    let failure = end?.error(nil)
    if failure != nil {
      end = try next()
      if end == nil { end = try next() }
    }
    guard end?.status == PGRES_PIPELINE_SYNC, unsafe library.exitPipeline(handle) == 1 else { throw lost }
    if let failure { throw failure }
    return results
  }

  private var lost: PostgreSQLError { PostgreSQLError(.lost, "the connection to the database broke") }

  private var late: PostgreSQLError {
    PostgreSQLError(
      .deadline, "the database did not answer in time",
      hint: "see what it does: SELECT * FROM pg_stat_activity; a frozen server, a lock, or a standby that is away")
  }

  /// Sends all buffered data.
  ///
  /// Reads incoming data at the same time, so that client and server never block each other.
  private func flush() throws(PostgreSQLError) {
    while true {
      switch unsafe library.flush(handle) {
      case 0: return
      case 1: break
      default: throw lost
      }
      let events = deadline.wait(for: POLLIN | POLLOUT, on: unsafe library.socket(handle))
      guard events != 0 else { throw late }
      // The connection broke. The server's reason may have been received already: `next` reports it.
      if events & POLLIN != 0, unsafe library.consumeInput(handle) != 1 { return }
      try unsafe bells.take(from: handle, library)
    }
  }

  /// The next result of the current command, or nil if it has no more.
  private func next() throws(PostgreSQLError) -> ResultHandle? {
    while unsafe library.isBusy(handle) == 1 {
      guard deadline.wait(for: POLLIN, on: unsafe library.socket(handle)) != 0 else { throw late }
      if unsafe library.consumeInput(handle) != 1, unsafe library.isBusy(handle) == 1 { throw lost }
      try unsafe bells.take(from: handle, library)
    }
    return unsafe library.getResult(handle).map { unsafe ResultHandle(owning: $0, library) }
  }

  private func send(_ command: Command) -> CInt {
    switch command {
    case .plain(let text): unsafe library.sendQuery(handle, text, 0, nil, nil, nil, nil, 1)
    case .prepare(let statement, let sql):
      unsafe library.sendPrepare(handle, statement.name, numbered(sql.text), 0, nil)
    case .describe(let statement): unsafe library.sendDescribe(handle, statement.name)
    case .run(let statement, _, let values): send(statement, values)
    }
  }

  /// The values are all sent in binary form, separate from the SQL text.
  private func send(_ statement: PreparedStatement, _ values: Parameters) -> CInt {
    let lengths = values.places.map { CInt(clamping: $0.count) }
    let formats = [CInt](repeating: 1, count: lengths.count)
    return unsafe values.bytes.withUnsafeBufferPointer { buffer in
      unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
        let pointers: [UnsafePointer<CChar>?] = unsafe values.places.map { place in
          unsafe place.start.flatMap { start in unsafe characters.baseAddress.map { unsafe $0 + start } }
        }
        return unsafe library.sendPrepared(
          handle, statement.name, CInt(clamping: lengths.count), pointers, lengths, formats, 1)
      }
    }
  }
}
