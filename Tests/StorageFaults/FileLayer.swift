internal import CSQLite
internal import Glibc
internal import RegentPlatform
internal import SQLite

// The C side: a table of functions, and a header in front of SQLite's own file object that leads to the disk. All
// callbacks are file-scope functions that run on the thread of the connection. A lock protects the disk's state.

/// The header in front of the real file object.
///
/// SQLite expects `methods` as its first field.
@unsafe private struct FileHeader {
  var methods: UnsafePointer<sqlite3_io_methods>?
  var owner: Unmanaged<OpenFile>?
}

/// The Swift side of one open file.
private final class OpenFile {
  let disk: FaultyDisk
  /// Nil for files without durable data, such as shared memory.
  let path: String?

  init(_ disk: FaultyDisk, _ path: String?) {
    self.disk = disk
    self.path = path
  }
}

private let headerSize = 64

func registerFileLayer(_ disk: FaultyDisk) {
  guard let real = unsafe sqlite3_vfs_find(nil) else { return }
  let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
  // Never freed, because SQLite uses the table until the process ends.
  unsafe layer.initialize(to: real.pointee)
  unsafe layer.pointee.pNext = nil
  unsafe layer.pointee.zName = UnsafePointer(strdup(disk.name))
  unsafe layer.pointee.szOsFile = Int32(headerSize) + real.pointee.szOsFile
  unsafe layer.pointee.pAppData = Unmanaged.passRetained(disk).toOpaque()
  unsafe layer.pointee.xOpen = openFile
  unsafe layer.pointee.xDelete = deleteFile
  unsafe sqlite3_vfs_register(layer, 0)
}

nonisolated(unsafe) private let methods: UnsafePointer<sqlite3_io_methods> = {
  let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
  unsafe table.initialize(to: sqlite3_io_methods())
  // Version 2 has shared memory for the log's index, but no memory-mapped reads, which would bypass this layer.
  unsafe table.pointee.iVersion = 2
  unsafe table.pointee.xClose = closeFile
  unsafe table.pointee.xRead = readFile
  unsafe table.pointee.xWrite = writeFile
  unsafe table.pointee.xTruncate = truncateFile
  unsafe table.pointee.xSync = synchroniseFile
  unsafe table.pointee.xFileSize = sizeOfFile
  unsafe table.pointee.xLock = { unsafe below($0).pointee.pMethods.pointee.xLock(below($0), $1) }
  unsafe table.pointee.xUnlock = {
    unsafe below($0).pointee.pMethods.pointee.xUnlock(below($0), $1)
  }
  unsafe table.pointee.xCheckReservedLock = {
    unsafe below($0).pointee.pMethods.pointee.xCheckReservedLock(below($0), $1)
  }
  unsafe table.pointee.xFileControl = controlFile
  unsafe table.pointee.xSectorSize = {
    unsafe below($0).pointee.pMethods.pointee.xSectorSize(below($0))
  }
  unsafe table.pointee.xDeviceCharacteristics = {
    unsafe below($0).pointee.pMethods.pointee.xDeviceCharacteristics(below($0))
  }
  unsafe table.pointee.xShmMap = {
    unsafe below($0).pointee.pMethods.pointee.xShmMap(below($0), $1, $2, $3, $4)
  }
  unsafe table.pointee.xShmLock = {
    unsafe below($0).pointee.pMethods.pointee.xShmLock(below($0), $1, $2, $3)
  }
  unsafe table.pointee.xShmBarrier = {
    unsafe below($0).pointee.pMethods.pointee.xShmBarrier(below($0))
  }
  unsafe table.pointee.xShmUnmap = {
    unsafe below($0).pointee.pMethods.pointee.xShmUnmap(below($0), $1)
  }
  return unsafe UnsafePointer(table)
}()

/// SQLite's own file object, which follows the header.
private func below(_ file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<
  sqlite3_file
> {
  guard let file = unsafe file else { preconditionFailure("SQLite calls with a file") }
  return unsafe (UnsafeMutableRawPointer(file) + headerSize).assumingMemoryBound(
    to: sqlite3_file.self)
}

private func owner(_ file: UnsafeMutablePointer<sqlite3_file>?) -> OpenFile {
  guard let file = unsafe file,
    let owner = unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: FileHeader.self)
      .pointee.owner
  else { preconditionFailure("SQLite calls with an open file") }
  return unsafe owner.takeUnretainedValue()
}

private func disk(_ layer: UnsafeMutablePointer<sqlite3_vfs>?) -> FaultyDisk {
  guard let data = unsafe layer?.pointee.pAppData else {
    preconditionFailure("SQLite calls with a layer")
  }
  return unsafe Unmanaged<FaultyDisk>.fromOpaque(data).takeUnretainedValue()
}

private func openFile(
  _ layer: UnsafeMutablePointer<sqlite3_vfs>?, _ name: sqlite3_filename?,
  _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
  _ flagsOut: UnsafeMutablePointer<Int32>?
) -> Int32 {
  guard let real = unsafe sqlite3_vfs_find(nil), let file = unsafe file else { return SQLITE_ERROR }
  let header = unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: FileHeader.self)
  unsafe header.initialize(to: FileHeader())
  let code = unsafe real.pointee.xOpen(real, name, below(file), flags, flagsOut)
  guard code == SQLITE_OK else { return code }
  let kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL
  var path: String?
  if let name = unsafe name, flags & kept != 0 { path = unsafe String(cString: name) }
  let disk = unsafe disk(layer)
  if let path { unsafe remember(path, below(file), on: disk) }
  unsafe header.pointee.owner = Unmanaged.passRetained(OpenFile(disk, path))
  unsafe header.pointee.methods = unsafe methods
  return SQLITE_OK
}

/// Records the content of a file that this disk has not seen yet; it counts as synchronised.
private func remember(
  _ path: String, _ file: UnsafeMutablePointer<sqlite3_file>, on disk: FaultyDisk
) {
  var size: sqlite3_int64 = 0
  _ = unsafe file.pointee.pMethods.pointee.xFileSize(file, &size)
  var content = [UInt8](repeating: 0, count: Int(size))
  if size > 0 {
    _ = unsafe content.withUnsafeMutableBytes { buffer in
      unsafe file.pointee.pMethods.pointee.xRead(file, buffer.baseAddress, Int32(size), 0)
    }
  }
  disk.state.withLock { state in
    switch state.files[path] {
    case nil:
      let isNew = size == 0 && !path.hasSuffix(".db")
      state.files[path] = FileImage(durable: content, size: Int(size), nameIsNew: isNew)
    case let old? where !old.exists:
      state.files[path] = FileImage(nameIsNew: true, ghost: old.ghost)
    default: break
    }
  }
}

private func deleteFile(
  _ layer: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ syncDirectory: Int32
) -> Int32 {
  guard let real = unsafe sqlite3_vfs_find(nil), let name = unsafe name else { return SQLITE_ERROR }
  let path = unsafe String(cString: name)
  let fault = unsafe disk(layer).state.withLock { $0.fault(of: .delete) }
  // sqlite3.h composes the extended codes with shifts, which Swift does not import: SQLITE_IOERR_DELETE.
  if fault != nil { return SQLITE_IOERR | 10 << 8 }
  // The real directory is not synchronised, because the image in memory tracks what is durable.
  let code = unsafe real.pointee.xDelete(real, name, 0)
  guard code == SQLITE_OK else { return code }
  unsafe disk(layer).state.withLock { state in
    guard let old = state.files[path] else { return }
    // Until the directory is synchronised, a power cut brings back the last synchronised content.
    state.files[path] = FileImage(
      exists: false, nameIsNew: true, ghost: old.nameIsNew ? old.ghost : old.durable)
    if syncDirectory != 0 { state.synchroniseNames() }
  }
  return SQLITE_OK
}

private func closeFile(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
  let code = unsafe below(file).pointee.pMethods.pointee.xClose(below(file))
  guard let file = unsafe file else { return code }
  let header = unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: FileHeader.self)
  unsafe header.pointee.owner?.release()
  unsafe header.pointee.owner = nil
  return code
}

private func readFile(
  _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeMutableRawPointer?, _ count: Int32,
  _ offset: sqlite3_int64
) -> Int32 {
  let owner = unsafe owner(file)
  if owner.path != nil, owner.disk.state.withLock({ $0.fault(of: .read) }) != nil {
    return SQLITE_IOERR | 1 << 8
  }
  let code = unsafe below(file).pointee.pMethods.pointee.xRead(below(file), bytes, count, offset)
  let late = owner.path.map { path in owner.disk.state.withLock { $0.files[path]?.late ?? [] } } ?? []
  guard !late.isEmpty, let bytes = unsafe bytes else { return code }
  return unsafe readLate(late, into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)), offset, code)
}

private func sizeOfFile(
  _ file: UnsafeMutablePointer<sqlite3_file>?, _ size: UnsafeMutablePointer<sqlite3_int64>?
) -> Int32 {
  let owner = unsafe owner(file)
  if let path = owner.path {
    let late = owner.disk.state.withLock { state in
      state.files[path].flatMap { $0.late.isEmpty ? nil : $0.size }
    }
    if let late {
      unsafe size?.pointee = sqlite3_int64(late)
      return SQLITE_OK
    }
  }
  return unsafe below(file).pointee.pMethods.pointee.xFileSize(below(file), size)
}

private func writeFile(
  _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: Int32,
  _ offset: sqlite3_int64
) -> Int32 {
  let owner = unsafe owner(file)
  guard let path = owner.path else {
    return unsafe below(file).pointee.pMethods.pointee.xWrite(below(file), bytes, count, offset)
  }
  let content = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
  let lie = owner.disk.state.withLock(\.lie)
  if case .rewrite? = lie, unsafe alreadyHolds(content, at: offset, below(file)) { return SQLITE_OK }
  if case .lateLog? = lie, path.hasSuffix("-wal") {
    owner.disk.state.withLock { $0.files[path]?.writeLate(content, at: Int(offset)) }
    return SQLITE_OK
  }
  // How much is written: everything, or with most faults the first half, as a short write would leave it.
  let (code, written) = owner.disk.state.withLock { state -> (Int32, Int32) in
    let fault = state.fault(of: .write)
    let growth = max(0, Int(offset) + content.count - (state.files[path]?.size ?? 0))
    let isFull = state.capacity.map { growth > 0 && state.size + growth > $0 } ?? false
    if isFull { return (SQLITE_FULL, 0) }
    state.isOverQuota = fault == .overQuota
    if fault == .overQuota { return (SQLITE_IOERR | 3 << 8, 0) }
    let isWhole = fault == nil || fault == .fullByChanceComplete
    let part = isWhole ? content : Array(content.prefix(content.count / 2))
    state.files[path]?.pending.append(.write(offset: Int(offset), bytes: part))
    let before = state.files[path]?.size ?? 0
    state.files[path]?.size = max(before, Int(offset) + part.count)
    switch fault {
    case nil: return (SQLITE_OK, Int32(part.count))
    case .full, .fullByChanceComplete: return (SQLITE_FULL, Int32(part.count))
    case .inputOutput, .overQuota: return (SQLITE_IOERR | 3 << 8, Int32(part.count))
    }
  }
  if written > 0 {
    let real = unsafe below(file).pointee.pMethods.pointee.xWrite(
      below(file), bytes, written, offset)
    guard real == SQLITE_OK else { return real }
  }
  return code
}

private func truncateFile(_ file: UnsafeMutablePointer<sqlite3_file>?, _ size: sqlite3_int64)
  -> Int32
{
  let owner = unsafe owner(file)
  if let path = owner.path {
    let refused: Int32? = owner.disk.state.withLock { state in
      guard state.fault(of: .truncate) == nil else { return SQLITE_IOERR | 6 << 8 }
      if case .truncate? = state.lie { return SQLITE_OK }
      state.files[path]?.pending.append(.truncate(to: Int(size)))
      state.files[path]?.forgetLate(after: Int(size))
      state.files[path]?.size = Int(size)
      return nil
    }
    if let refused { return refused }
  }
  return unsafe below(file).pointee.pMethods.pointee.xTruncate(below(file), size)
}

/// Reports EDQUOT as the last errno after a refused write over quota, as SQLite's own file layer would.
private func controlFile(
  _ file: UnsafeMutablePointer<sqlite3_file>?, _ operation: Int32, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  if operation == SQLITE_FCNTL_LAST_ERRNO, let argument = unsafe argument,
    unsafe owner(file).disk.state.withLock(\.isOverQuota)
  {
    unsafe argument.storeBytes(of: EDQUOT, as: Int32.self)
    return SQLITE_OK
  }
  return unsafe below(file).pointee.pMethods.pointee.xFileControl(below(file), operation, argument)
}

/// Synchronises only the image in memory and not the real file, so that tests need not wait for a disk.
private func synchroniseFile(_ file: UnsafeMutablePointer<sqlite3_file>?, _: Int32) -> Int32 {
  let owner = unsafe owner(file)
  guard let path = owner.path else { return SQLITE_OK }
  owner.disk.state.withLock { $0.waiting += $0.isHeld ? 1 : 0 }
  owner.disk.state.wakeAll()
  _ = owner.disk.state.wait { $0.isHeld ? nil : true }
  let due = owner.disk.state.withLock { $0.files[path]?.takeLate() ?? [] }
  for case .write(let offset, let content) in due {
    let code = unsafe content.withUnsafeBytes { buffer in
      unsafe below(file).pointee.pMethods.pointee.xWrite(
        below(file), buffer.baseAddress, Int32(buffer.count), sqlite3_int64(offset))
    }
    guard code == SQLITE_OK else { return code }
  }
  return owner.disk.state.withLock { state in
    guard state.fault(of: .synchronise) == nil else {
      // Like Linux, which marks the pages as clean although they never reached the disk.
      state.files[path]?.pending = []
      return SQLITE_IOERR | 4 << 8
    }
    if case .synchronise? = state.lie { return SQLITE_OK }
    state.files[path]?.synchronise()
    if state.files[path]?.nameIsNew == true { state.synchroniseNames() }
    return SQLITE_OK
  }
}
