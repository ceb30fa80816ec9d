internal import CSQLite

// The bookkeeping of disks that report writes too early or skip them; see FaultyDisk.Lie.

extension FileImage {
  /// Records a write that the kernel gets later.
  mutating func writeLate(_ bytes: [UInt8], at offset: Int) {
    late.append(.write(offset: offset, bytes: bytes))
    size = max(size, offset + bytes.count)
  }

  /// Returns the writes that the kernel gets now: those made before the previous synchronisation.
  mutating func takeLate() -> [Change] {
    let due = Array(late.prefix(lateAtLastSync))
    late.removeFirst(lateAtLastSync)
    lateAtLastSync = late.count
    pending += due
    return due
  }

  /// Drops writes that a truncation cut off.
  mutating func forgetLate(after size: Int) {
    let count = late.count
    late.removeAll { change in
      if case .write(let offset, _) = change { offset >= size } else { false }
    }
    if late.count < count { lateAtLastSync = min(lateAtLastSync, late.count) }
  }
}

/// Copies late writes over the bytes that were read from the kernel.
func readLate(
  _ late: [FileImage.Change], into buffer: UnsafeMutableRawBufferPointer, _ start: sqlite3_int64, _ code: Int32
) -> Int32 {
  guard code == SQLITE_OK || code == SQLITE_IOERR | 2 << 8 else { return code }
  var isTouched = false
  for case .write(let offset, let bytes) in late {
    let from = max(offset, Int(start))
    let to = min(offset + bytes.count, Int(start) + buffer.count)
    guard from < to else { continue }
    isTouched = true
    for position in from..<to { unsafe buffer[position - Int(start)] = bytes[position - offset] }
  }
  // The kernel reported a short read. It is no short read if a late write covers part of the range.
  return isTouched ? SQLITE_OK : code
}

/// Whether the file already contains these bytes at the offset.
func alreadyHolds(
  _ content: [UInt8], at offset: sqlite3_int64, _ file: UnsafeMutablePointer<sqlite3_file>
) -> Bool {
  var there = [UInt8](repeating: 0, count: content.count)
  let code = unsafe there.withUnsafeMutableBytes { buffer in
    unsafe file.pointee.pMethods.pointee.xRead(file, buffer.baseAddress, Int32(buffer.count), offset)
  }
  return code == SQLITE_OK && there == content
}
