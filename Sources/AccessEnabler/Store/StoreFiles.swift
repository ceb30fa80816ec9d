import RegentCryptography
internal import RegentEncodings
import RegentJSON
import RegentPlatform

struct StoreFiles: Sendable {
  private let folder: String
  private var installationPath: String { "\(folder)/installation" }
  /// The path of a copy of the installation file.
  ///
  /// If the device id is lost, the box gets a new one and is signed in nowhere.
  private var copyPath: String { "\(folder)/installation.copy" }
  private var tokensPath: String { "\(folder)/tokens" }

  /// The maximum size of the tokens file in bytes.
  ///
  /// A store with 256 permits for each of dozens of requestors is smaller.
  private static let limit = 8 << 20
  private static let opening = "regent-tokens 1 "

  /// The content of a tokens file, and what is wrong with the file if it cannot be used.
  struct Reading {
    var content = StoreContent()
    var bytes: [UInt8] = []
    var isDamaged = false
    var why = ""
  }

  init(_ folder: String) throws(FileError) {
    self.folder = folder
    try PrivateDirectory.ensure(folder)
  }

  var newestTime: Int64 { [installationPath, tokensPath].compactMap(FileTime.modified).max() ?? 0 }

  func lock() throws(FileError) -> FileLock {
    try FileLock(at: "\(folder)/lock", patience: .seconds(5))
  }

  /// Takes the lock for requesting a registration code.
  ///
  /// This lock is held for the time of a request. Writes to the store use another lock, ``lock()``, because they must
  /// not wait that long.
  func codeLock() throws(FileError) -> FileLock { try FileLock(at: "\(folder)/code.lock") }

  /// Reads the installation or creates one.
  ///
  /// If it belongs to another machine, its tokens are deleted.
  func open(
    machineID: String
  ) throws(FileError) -> (installation: Installation, news: EntitlementStatus?) {
    if let found = try readInstallation(), found.belongs(to: machineID) { return (found, nil) }
    let lock = try lock()
    let opened = try openLocked(machineID: machineID)
    lock.release()
    return opened
  }

  private func openLocked(
    machineID: String
  ) throws(FileError) -> (installation: Installation, news: EntitlementStatus?) {
    // Another process may have created an installation since the first check.
    let found = try readInstallation()
    if let found, found.belongs(to: machineID) { return (found, nil) }
    if found == nil, let copy = try readInstallation(copyPath), copy.belongs(to: machineID) {
      try DurableFile.write(copy.bytes, to: installationPath)
      return (copy, nil)
    }
    let isThere = try PrivateFile.check(installationPath)
    let isFirst = found == nil && !isThere
    let new = Installation(machineID: machineID)
    // Delete the tokens first. With a new device id, the next start would take them for damaged.
    if !isFirst { try DurableFile.remove(tokensPath) }
    // This write is not forced to disk (fsync). Before there are tokens, it does not matter if a power failure leads to
    // a new device id.
    try DurableFile.writeUnforced(new.bytes, to: installationPath)
    try DurableFile.writeUnforced(new.bytes, to: copyPath)
    let why = found == nil ? "damaged" : "other machine"
    return (new, isFirst ? nil : TokenStore.cleared(why))
  }

  private func readInstallation(_ path: String? = nil) throws(FileError) -> Installation? {
    do throws(FileError) {
      return Installation(reading: try DurableFile.read(path ?? installationPath, limit: 4096))
    } catch {
      guard error.kind == .missing || error.kind == .tooLarge(limit: 4096) else { throw error }
      return nil
    }
  }

  // MARK: Tokens

  func readBytes() throws(FileError) -> [UInt8] {
    do throws(FileError) {
      return try DurableFile.read(tokensPath, limit: Self.limit)
    } catch {
      guard error.kind == .missing else { throw error }
      return []
    }
  }

  func read(_ installation: Installation) throws(FileError) -> Reading {
    take(try readBytes(), installation)
  }

  /// Parses the content of a tokens file.
  ///
  /// No part of the content is used before the MAC (the seal) is verified.
  func take(_ bytes: [UInt8], _ installation: Installation) -> Reading {
    guard !bytes.isEmpty else { return Reading() }
    var reading = Reading(bytes: bytes, isDamaged: true, why: "damaged")
    guard let end = bytes.firstIndex(of: 0x0A), bytes.starts(with: Self.opening.utf8) else {
      return reading
    }
    let seal = String(decoding: bytes[Self.opening.utf8.count..<end], as: UTF8.self)
    let body = Array(bytes[(end + 1)...])
    let limits = JSONLimits(depth: 12, bytes: Self.limit, allowsManyMarks: true)
    let object = (try? JSONValue(reading: body, limits: limits))?.object
    guard let seal = try? Hex.decode(seal), installation.isSeal(seal, of: body) else {
      // The device of a file without a valid seal is used only for the error message, and nothing else of that file.
      if let device = object?["device"]?.string, device != installation.deviceMark {
        reading.why = "other device id"
      }
      return reading
    }
    guard let object, let content = try? StoreContent(reading: object) else { return reading }
    return Reading(content: content, bytes: bytes)
  }

  func sealed(_ content: StoreContent, _ installation: Installation) -> [UInt8] {
    let body = content.json(device: installation.deviceMark).bytes()
    return Array("\(Self.opening)\(Hex.encode(installation.seal(body)))\n".utf8) + body
  }

  /// Forces the installation files to disk, whichever process created them.
  ///
  /// Tokens are useless without them.
  ///
  /// Pass `isDoubtful` after a failed fsync. The kernel reports a write error only once, so a later success does not
  /// prove that the data is on disk. Then the files are written again.
  func force(_ installation: Installation, isDoubtful: Bool) throws(FileError) {
    // The user may have deleted the file while this process ran. The tokens of this process belong to the deleted
    // installation.
    let isMissing = try !PrivateFile.check(installationPath)
    if isMissing || isDoubtful { try DurableFile.write(installation.bytes, to: installationPath) }
    // Earlier versions wrote no copy of the installation file.
    let isCopied = try readInstallation(copyPath)?.deviceID == installation.deviceID
    if !isCopied || isDoubtful { try DurableFile.write(installation.bytes, to: copyPath) }
    try DurableFile.force(installationPath, copyPath)
  }

  func write(_ bytes: [UInt8]) throws(FileError) {
    try DurableFile.write(bytes, to: tokensPath)
  }

  /// Writes over the existing file, if the disk has no room for a second one.
  ///
  /// A power failure meanwhile leaves a file without a valid seal, with which no viewer is signed in.
  func overwrite(_ bytes: [UInt8]) throws(FileError) {
    try DurableFile.overwrite(bytes, of: tokensPath)
  }
}
