// StorageFaults: a file layer (VFS) below SQLite that fails or lies on command, has a full disk on command, and knows
// what a power cut would leave. Real files carry the data, so locks and shared memory are SQLite's own; beside them it
// keeps what was synchronised. For the tests of SQLite and the soak program only: a program has no switch for it.

internal import CSQLite
internal import Glibc
internal import RegentPlatform
internal import SQLite
internal import Synchronization

/// A disk that can be made to fail.
///
/// One per test: each registers a file layer under its own name.
public final class FaultyDisk: Sendable {
  /// What can be made to fail.
  public enum Operation: Sendable, CaseIterable {
    case read, write, truncate, synchronise, delete
  }

  /// How an operation fails.
  public enum Fault: Sendable {
    /// An I/O error.
    case inputOutput
    /// No space is left; the first half was written.
    case full
    /// The user's quota is used up, which SQLite takes for an I/O error; nothing was written.
    case overQuota
    /// No space is left, and yet what is in the file is complete: behind the cut stood the same bytes before.
    case fullByChanceComplete
  }

  /// What a disk can say it has done and not do: each undoes one precaution of ours, so that a test can show that it
  /// notices when the precaution is missing.
  public enum Lie: Sendable {
    /// A synchronisation forces nothing, as with `synchronous=OFF`: a power cut loses what was acknowledged.
    case synchronise
    /// A file is not cut, as if the log kept what a refused request left behind.
    case truncate
    /// Bytes that stand in the file already are not written again, as if the log were not forced to disk at opening:
    /// pages that a failed fsync marked clean stay clean.
    case rewrite
    /// The log reaches the kernel one synchronisation late, as if answers left before their `COMMIT`: a kill loses what
    /// was acknowledged.
    case lateLog
  }

  /// The name under which SQLite finds this file layer.
  public let name: String
  let state = Monitor(DiskState())

  /// Registers a new disk.
  public init() {
    // Settings of the library that are only accepted before its first use.
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

  /// Has the disk lie from now on; `nil` makes it honest again.
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

  /// Has every synchronisation from now on wait for ``letGo()``, as a disk does that does not answer.
  public func hold() { state.withLock { $0.isHeld = true } }

  /// Ends ``hold()``.
  public func letGo() {
    state.withLock { $0.isHeld = false }
    state.wakeAll()
  }

  /// Waits until a synchronisation waits.
  public func waitUntilHeld() { _ = state.wait { $0.waiting > 0 ? true : nil } }

  /// Frees what it remembers of the files; SQLite keeps the file layer itself for the rest of the process.
  public func forget() { state.withLock { $0 = DiskState() } }

  /// Limits the bytes of all files together, as a small disk would; `nil` is no limit.
  public func setCapacity(_ bytes: Int?) { state.withLock { $0.capacity = bytes } }

  /// The bytes of all files together.
  public var size: Int { state.withLock { $0.size } }

  /// How often an operation was called.
  public func count(of operation: Operation) -> Int {
    state.withLock { $0.calls[operation] ?? 0 }
  }

  /// The files as killing the process at this moment would leave them: all that was handed to the kernel.
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

  /// The files as a power cut at this moment would leave them: what was synchronised.
  ///
  /// A name that was made or removed since its directory was synchronised is as it was before.
  public func survivors() -> [String: [UInt8]] {
    state.withLock { $0.files }.compactMapValues { file in
      file.nameIsNew ? file.ghost : file.durable
    }
  }

  /// The same, but each unsynchronised write may have reached the disk as well, or half of it: disks write in any order
  /// they like.
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
  /// Whether the last write was refused for it.
  var isOverQuota = false
  var isHeld = false
  /// How many synchronisations wait.
  var waiting = 0
  var calls: [FaultyDisk.Operation: Int] = [:]

  var size: Int { files.values.reduce(0) { $0 + $1.size } }

  /// The directory reaches the disk, as SQLite orders with the first synchronisation of a new log or journal.
  mutating func synchroniseNames() {
    files = files.filter(\.value.exists)
    for path in files.keys {
      files[path]?.nameIsNew = false
      files[path]?.ghost = nil
    }
  }

  /// Counts the call and says how it shall fail, if it shall.
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

/// One file: what the disk certainly holds, and what only the page cache holds.
struct FileImage {
  var durable: [UInt8] = []
  var pending: [Change] = []
  /// What a late disk has not handed to the kernel yet, and how much of it the next synchronisation hands over.
  var late: [Change] = []
  var lateAtLastSync = 0
  /// The size that programs see.
  var size = 0
  /// Whether programs see the file.
  var exists = true
  /// Whether the directory was not synchronised since the file was made or removed.
  var nameIsNew = false
  /// What the disk has under the name as long as the directory is not synchronised.
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

    /// What a torn write leaves: its first half.
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
