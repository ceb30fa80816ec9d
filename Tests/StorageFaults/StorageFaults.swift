// StorageFaults: a file layer (VFS) below SQLite that fails or lies on request, simulates a full disk, and knows what
// a power cut would leave. Real files hold the data, so locks and shared memory are SQLite's own; an image in memory
// tracks what was synchronised. Only the tests of SQLite and the soak program use it; no program has a switch for it.

internal import CSQLite
internal import Glibc
internal import RegentPlatform
internal import SQLite
internal import Synchronization

/// A disk that can be made to fail.
///
/// Each test has its own, which registers a file layer under its own name.
public final class FaultyDisk: Sendable {
  public enum Operation: Sendable, CaseIterable {
    case read, write, truncate, synchronise, delete
  }

  /// How an operation fails.
  public enum Fault: Sendable {
    case inputOutput
    /// No space is left, and the first half was written.
    case full
    /// The user's quota is exceeded, which SQLite reports as an I/O error. Nothing was written.
    case overQuota
    /// No space is left, but the file has all bytes: the missing half equals what an earlier write left there.
    case fullByChanceComplete
  }

  /// What a disk may report as done without doing it.
  ///
  /// Each lie disables one precaution of this project, so that a test can show that it notices when the precaution is
  /// missing.
  public enum Lie: Sendable {
    /// Synchronisation has no effect, as with `synchronous=OFF`: a power cut loses acknowledged rows.
    case synchronise
    /// Files are not truncated, as if the log kept the frames of a refused request.
    case truncate
    /// Bytes that the file already contains are not written again, as if the log were not rewritten at opening: pages
    /// that a failed fsync marked clean stay clean.
    case rewrite
    /// The log reaches the kernel one synchronisation late, as if requests were answered before their `COMMIT`: a
    /// kill loses acknowledged rows.
    case lateLog
  }

  /// The name under which SQLite finds this file layer.
  public let name: String
  let state = Monitor(DiskState())

  /// Creates a disk and registers its file layer.
  public init() {
    // These library settings are accepted only before SQLite is first used.
    SQLiteLibrary.prepare()
    let number = disks.wrappingAdd(1, ordering: .relaxed).newValue
    name = "faulty-\(getpid())-\(number)"
    registerFileLayer(self)
  }

  /// Makes the `count`-th of the operations from now on fail, and every one after it when `forEver`.
  public func fail(
    _ operations: Set<Operation>, at count: Int, forEver: Bool = false,
    with fault: Fault = .inputOutput
  ) {
    state.withLock { state in
      state.plan = FaultPlan(
        operations: operations, countdown: count, forEver: forEver, fault: fault)
    }
  }

  /// Makes the disk lie from now on; `nil` makes it honest again.
  public func lie(about lie: Lie?) { state.withLock { $0.lie = lie } }

  /// Makes everything work again.
  ///
  /// - Returns: whether the planned fault had happened.
  @discardableResult
  public func heal() -> Bool {
    state.withLock { state in
      defer { state.plan = nil }
      return state.plan?.happened ?? false
    }
  }

  /// Blocks every synchronisation until ``letGo()``, like a disk that does not answer.
  public func hold() { state.withLock { $0.isHeld = true } }

  /// Ends ``hold()``.
  public func letGo() {
    state.withLock { $0.isHeld = false }
    state.wakeAll()
  }

  /// Waits until a synchronisation is blocked by ``hold()``.
  public func waitUntilHeld() { _ = state.wait { $0.waiting > 0 ? true : nil } }

  /// Frees the images of the files.
  ///
  /// SQLite keeps the file layer itself until the process ends.
  public func forget() { state.withLock { $0 = DiskState() } }

  /// Limits the bytes of all files together, as a small disk would; `nil` is no limit.
  public func setCapacity(_ bytes: Int?) { state.withLock { $0.capacity = bytes } }

  /// The bytes of all files together.
  public var size: Int { state.withLock { $0.size } }

  /// How often an operation was called.
  public func count(of operation: Operation) -> Int {
    state.withLock { $0.calls[operation] ?? 0 }
  }

  /// The files as killing the process now would leave them: everything that was handed to the kernel.
  ///
  /// After a failed synchronisation it is what the disk has, as if the kernel had dropped its pages meanwhile.
  public func contents() -> [String: [UInt8]] {
    state.withLock { $0.files }.compactMapValues { file in
      guard file.exists else { return nil }
      var content = file.durable
      for change in file.pending { change.apply(to: &content) }
      return content
    }
  }

  /// The files as a power cut now would leave them: what was synchronised.
  ///
  /// A file that was created or deleted since its directory was synchronised is in its earlier state.
  public func survivors() -> [String: [UInt8]] {
    state.withLock { $0.files }.compactMapValues { file in
      file.nameIsNew ? file.ghost : file.durable
    }
  }

  /// The files as a power cut now might leave them: each unsynchronised write may be kept, half kept or lost, because
  /// disks write in any order.
  public func survivors(
    keepingSomeBy generator: inout some RandomNumberGenerator
  ) -> [String: [UInt8]] {
    state.withLock { $0.files }.compactMapValues { file in
      if file.nameIsNew, Bool.random(using: &generator) { return file.ghost }
      guard file.exists else { return nil }
      var content = file.durable
      for change in file.pending {
        switch UInt8.random(in: 0..<3, using: &generator) {
        case 0: change.apply(to: &content)
        case 1: change.half.apply(to: &content)
        default: break
        }
      }
      return content
    }
  }
}

private let disks = Atomic(0)

struct FaultPlan {
  let operations: Set<FaultyDisk.Operation>
  var countdown: Int
  let forEver: Bool
  let fault: FaultyDisk.Fault
  var happened = false
}

struct DiskState {
  var files: [String: FileImage] = [:]
  var plan: FaultPlan?
  var lie: FaultyDisk.Lie?
  var capacity: Int?
  /// Whether the last write was refused because of the quota.
  var isOverQuota = false
  var isHeld = false
  /// How many synchronisations have been blocked.
  var waiting = 0
  var calls: [FaultyDisk.Operation: Int] = [:]

  var size: Int { files.values.reduce(0) { $0 + $1.size } }

  /// Synchronises the directory, as SQLite does with the first synchronisation of a new log or journal.
  mutating func synchroniseNames() {
    files = files.filter(\.value.exists)
    for path in files.keys {
      files[path]?.nameIsNew = false
      files[path]?.ghost = nil
    }
  }

  /// Counts the call and returns the planned fault, if it is due.
  mutating func fault(of operation: FaultyDisk.Operation) -> FaultyDisk.Fault? {
    calls[operation, default: 0] += 1
    guard var plan, plan.operations.contains(operation) else { return nil }
    plan.countdown -= 1
    let fails = plan.countdown == 0 || (plan.forEver && plan.countdown < 0)
    if fails { plan.happened = true }
    self.plan = plan
    return fails ? plan.fault : nil
  }
}

/// One file: what the disk has for certain, and what only the page cache has.
struct FileImage {
  var durable: [UInt8] = []
  var pending: [Change] = []
  /// Writes that a late disk has not handed to the kernel yet, and how many of them the next synchronisation hands
  /// over.
  var late: [Change] = []
  var lateAtLastSync = 0
  /// The size that programs see, unsynchronised writes included.
  var size = 0
  /// Whether programs see the file.
  var exists = true
  /// Whether the file was created or deleted since the directory was last synchronised.
  var nameIsNew = false
  /// What the disk still has under this name until the directory is synchronised.
  var ghost: [UInt8]?

  enum Change {
    case write(offset: Int, bytes: [UInt8])
    case truncate(to: Int)

    func apply(to content: inout [UInt8]) {
      switch self {
      case .write(let offset, let bytes):
        if content.count < offset + bytes.count {
          content += [UInt8](repeating: 0, count: offset + bytes.count - content.count)
        }
        content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      case .truncate(let size):
        if content.count > size { content.removeLast(content.count - size) }
      }
    }

    /// The first half of a write, as a torn write leaves it.
    var half: Change {
      guard case .write(let offset, let bytes) = self else { return self }
      return .write(offset: offset, bytes: Array(bytes.prefix(bytes.count / 2)))
    }
  }

  mutating func synchronise() {
    for change in pending { change.apply(to: &durable) }
    pending = []
  }
}
