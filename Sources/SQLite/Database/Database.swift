import RegentPlatform
import Synchronization

/// An open database: one thread writes, a few read, and a lock file keeps other programs from opening it.
///
/// Writes that arrive at the same time share one transaction and one fsync; each is answered only after the commit. A
/// write that fails is undone alone. When a failure leaves the outcome unknown, the writer stops for good (see
/// `DatabaseFailure`), because only opening the file again shows what it contains.
public final class Database: Sendable {
  /// The path of the file, without symbolic links.
  public let path: String
  let queue: WriteQueue
  let readers: ReaderPool
  let counters: Counters
  private let changes: ChangeMark
  let fileLayer: String?
  let schema: DatabaseSchema?
  let writer: DedicatedThread
  private let lock: DatabaseLock
  private let closed = Once<Bool>()
  private let closing = Atomic(false)
  private let writerEnded: Once<Bool>
  private let closingNanoseconds: UInt64

  /// Opens the file, recovers it, runs the missing migrations, and starts the threads.
  ///
  /// Blocks the caller.
  ///
  /// - Throws: `FileError` for the files, `OpenFailure` for their content, `SQLiteError` for other failures.
  public init(_ options: DatabaseOptions) throws {
    let path = try DatabaseFiles.prepareDirectory(of: options.path)
    let claim = try FileLock(beside: path)
    try DatabaseFiles.check(path)
    try DatabaseFiles.createIfMissing(path)
    let lock = DatabaseLock(claim, try ClaimedFile(claiming: path))
    let context = try Database.openForWriting(path, options, lock)
    // SQLite has now created the log and its index: check their modes like those of the other files.
    try DatabaseFiles.check(path)

    let counters = Counters()
    let queue = WriteQueue(capacity: options.writer.queueCapacity)
    let handover = Handover(context)
    let limits = options.writer
    let changes = ChangeMark(options.moves)
    let fileLayer = options.fileLayer
    let onFailStop = options.onFailStop
    let readers = try ReaderPool(
      path: path, count: options.readers, capacity: options.readQueueCapacity, fileLayer: fileLayer,
      counters: counters, writer: queue)
    let writerEnded = Once<Bool>()
    do {
      writer = try DedicatedThread.start(named: "sqlite writer", turns: .shortest) {
        defer { writerEnded.fulfil(true) }
        guard let context = handover.take() else { return }
        context.connection.watchRows(for: changes)
        let failure = Database.write(
          context, lock, queue: queue, limits: limits, counters: counters)
        // The connection is closed now. The lock is released when the owner of the database has released it too.
        withExtendedLifetime(lock) {}
        if let failure { onFailStop(failure) }
      }
    } catch {
      readers.close()
      throw error
    }
    self.readers = readers
    self.path = path
    self.lock = lock
    self.queue = queue
    self.counters = counters
    self.changes = changes
    self.fileLayer = fileLayer
    schema = options.schema
    self.writerEnded = writerEnded
    closingNanoseconds = limits.closingNanoseconds
  }

  deinit {
    // The threads are told to stop, without waiting for them: the last reference may be dropped in a completion that
    // runs on one of these threads.
    readers.startClosing()
    queue.close()
  }

  /// Ends reads, finishes queued writes, empties the log and closes the file.
  ///
  /// Blocks the caller.
  ///
  /// When it is called from a request's own code or completion, it does not wait, and the threads end later. If the
  /// disk does not answer, it stops waiting too: the running write goes on, the file stays locked, and queued writes
  /// are refused as `.closed`.
  ///
  /// - Parameter keepsLog: leaves the log beside the file; for a caller that found that the two belong to different
  ///   databases.
  public func close(keepingLog keepsLog: Bool = false) {
    guard !writer.isCurrent, !readers.isCurrent else {
      readers.startClosing()
      return queue.close()
    }
    guard !closing.exchange(true, ordering: .acquiringAndReleasing) else {
      _ = closed.wait()
      return
    }
    // The readers are closed first, because an open read would keep the last checkpoint from finishing.
    readers.close()
    let now = Clocks.monotonicNanoseconds()
    queue.close(by: keepsLog ? now : now + closingNanoseconds)
    // A commit that began before the deadline gets the same time again to finish.
    if writerEnded.wait(until: now + 2 * closingNanoseconds) != nil {
      writer.join()
      lock.release()
    }
    closed.fulfil(true)
  }

  public var statistics: DatabaseStatistics { counters.now }

  /// A counter that advances with every commit that changed rows selected by ``DatabaseOptions/moves``, before the
  /// requests of that commit are answered.
  ///
  /// Rows that were read after the counter was read are still current if the counter has not changed since.
  public var mark: UInt64 { changes.now }

  /// The error that stopped the writer for good; nil while it works.
  public var stopped: SQLiteError? { queue.stopped }

  /// Empties the write-ahead log as soon as no request is queued.
  public func checkpointSoon() { queue.askForCheckpoint() }

  private static func openForWriting(
    _ path: String, _ options: DatabaseOptions, _ lock: DatabaseLock
  ) throws -> WriteContext {
    let context = WriteContext(
      connection: try Connection.open(path, role: .writer, fileLayer: options.fileLayer) {
        connection throws(SQLiteError) in
        lock.keep(try LogIndexRoom(for: connection, path: path))
      })
    // The log may belong to another database, from which it was copied to this place. If opening fails, it must not be
    // copied into this file.
    context.connection.keepLogWhenClosing()
    let journal = try context.connection.value("PRAGMA journal_mode = WAL", as: String.self) ?? ""
    guard journal == "wal" else { throw OpenFailure.noWriteAheadLog(path: path, journal: journal) }
    try context.connection.run("BEGIN IMMEDIATE")
    try context.connection.forceLogToDisk()
    try context.connection.run("COMMIT")
    try Migrator(
      migrations: options.migrations, applicationID: options.applicationID, path: path,
      onProgress: options.onMigration
    ).run(in: context)
    if let strangers = try options.schema?.differences(in: context.connection), !strangers.isEmpty {
      throw OpenFailure.foreignSchema(path: path, differences: strangers)
    }
    context.connection.keepLogWhenClosing(false)
    return context
  }

  private static func write(
    _ context: consuming WriteContext, _ lock: DatabaseLock, queue: WriteQueue,
    limits: WriterLimits, counters: Counters
  ) -> SQLiteError? {
    do throws(SQLiteError) {
      return try WriterLoop(context, lock, queue: queue, limits: limits, counters: counters).run()
    } catch {
      for request in queue.stop(error) { request.refuse(DatabaseFailure.stopped(error)) }
      return error
    }
  }
}

/// The locks on the database's path and on the file itself.
///
/// They are held until the owner of the database and the writer thread have both released them.
final class DatabaseLock: Sendable {
  private struct Claims: ~Copyable {
    let path: FileLock
    let file: ClaimedFile
    var room: LogIndexRoom?
  }

  private let held: Mutex<Claims?>

  init(_ path: consuming FileLock, _ file: consuming ClaimedFile) {
    held = Mutex(Claims(path: path, file: file))
  }

  /// Keeps the descriptor of the index of the write-ahead log open for as long as the file is locked.
  func keep(_ room: LogIndexRoom) { held.withLock { $0?.room = room } }

  /// Whether the database's path still leads to the open file.
  var isInPlace: Bool { held.withLock { $0 == nil || $0?.file.isInPlace == true } }

  func release() {
    held.withLock { $0 = nil }
  }
}
