import RegentPlatform
import Synchronization

/// A database in use: one thread writes, a few read, and a lock file keeps every other program out.
///
/// Writes that come at the same time share one transaction and one fsync; each is told only after the commit. A write
/// that fails is undone alone. When a failure leaves the outcome unknown, the writer stops for good (see
/// `DatabaseFailure`), because only opening the file again tells what is in it.
public final class Database: Sendable {
  /// The file, without symbolic links.
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

  /// Opens the file, recovers it, brings it to the program's schema, and starts the threads.
  ///
  /// Blocks the caller.
  ///
  /// - Parameter options: which file and how.
  /// - Throws: `FileError` for the files, `OpenFailure` for their content, `SQLiteError` for the rest.
  public init(_ options: DatabaseOptions) throws {
    let path = try DatabaseFiles.prepareDirectory(of: options.path)
    let claim = try FileLock(beside: path)
    try DatabaseFiles.check(path)
    try DatabaseFiles.createIfMissing(path)
    let lock = DatabaseLock(claim, try ClaimedFile(claiming: path))
    let context = try Database.openForWriting(path, options, lock)
    // The log and its index exist now, made by SQLite: their modes are checked like the rest.
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
        // The connection is closed by now; the lock goes when the owner lets go too.
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
    // Without waiting: the last reference may be dropped by a completion on one of our own threads.
    readers.startClosing()
    queue.close()
  }

  /// Ends reads, finishes the writes that wait, empties the log and closes the file.
  ///
  /// Blocks the caller.
  ///
  /// Called from a request's own code or completion it does not wait: the threads end on their own time. Neither does
  /// it wait for ever for a disk that does not answer: what is under way then goes on, the file stays claimed, and what
  /// waits behind it is refused as `.closed`.
  ///
  /// - Parameter keepsLog: leaves the log beside the file, for who found that the two are not of one database.
  public func close(keepingLog keepsLog: Bool = false) {
    guard !writer.isCurrent, !readers.isCurrent else {
      readers.startClosing()
      return queue.close()
    }
    guard !closing.exchange(true, ordering: .acquiringAndReleasing) else {
      _ = closed.wait()
      return
    }
    // Readers first: they would keep the last checkpoint from finishing.
    readers.close()
    let now = Clocks.monotonicNanoseconds()
    queue.close(by: keepsLog ? now : now + closingNanoseconds)
    // A commit that began in time has as long again.
    if writerEnded.wait(until: now + 2 * closingNanoseconds) != nil {
      writer.join()
      lock.release()
    }
    closed.fulfil(true)
  }

  /// What happened since the file was opened.
  public var statistics: DatabaseStatistics { counters.now }

  /// A number that moves on with every commit that changed rows as ``DatabaseOptions/moves`` says, before its requests
  /// are answered: what was read after it was taken holds while it stays the same.
  public var mark: UInt64 { changes.now }

  /// The error that stopped the writer for good, if one did.
  public var stopped: SQLiteError? { queue.stopped }

  /// Empties the write-ahead log at the next quiet moment.
  public func checkpointSoon() { queue.askForCheckpoint() }

  private static func openForWriting(
    _ path: String, _ options: DatabaseOptions, _ lock: DatabaseLock
  ) throws -> WriteContext {
    let context = WriteContext(
      connection: try Connection.open(path, role: .writer, fileLayer: options.fileLayer) {
        connection throws(SQLiteError) in
        lock.keep(try LogIndexRoom(for: connection, path: path))
      })
    // The log may be another database's, which somebody put there: what is refused is not written over this one.
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

/// The claim on the database's path and on the file itself, held until both the owner and the writer thread have let
/// go.
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

  /// Keeps the room of the log's index for as long as the file is claimed.
  func keep(_ room: LogIndexRoom) { held.withLock { $0?.room = room } }

  /// Whether the database's path still leads to the file that is open.
  var isInPlace: Bool { held.withLock { $0 == nil || $0?.file.isInPlace == true } }

  func release() {
    held.withLock { $0 = nil }
  }
}
