import RegentCryptography
internal import RegentEncodings
import RegentJSON
import RegentPlatform

/// The files of a token store.
struct StoreFiles: Sendable {
  private let folder: String
  private var installationPath: String { "\(folder)/installation" }
  /// The same once more: without its device id a box is another one, and signed in nowhere.
  private var copyPath: String { "\(folder)/installation.copy" }
  private var tokensPath: String { "\(folder)/tokens" }

  /// Larger than any store with 256 permits for each of dozens of requestors.
  private static let limit = 8 << 20
  private static let opening = "regent-tokens 1 "

  /// What was found in a tokens file.
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

  /// Held while a code is asked for, for as long as the network takes: apart from the one that writes wait for.
  func codeLock() throws(FileError) -> FileLock { try FileLock(at: "\(folder)/code.lock") }

  /// Reads the installation, or makes one; tokens of another machine do not survive it.
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
    // Another process may have made one meanwhile.
    let found = try readInstallation()
    if let found, found.belongs(to: machineID) { return (found, nil) }
    if found == nil, let copy = try readInstallation(copyPath), copy.belongs(to: machineID) {
      try DurableFile.write(copy.bytes, to: installationPath)
      return (copy, nil)
    }
    let isThere = try PrivateFile.check(installationPath)
    let isFirst = found == nil && !isThere
    let new = Installation(machineID: machineID)
    // Tokens first: an old store under a new device id would only be found damaged later.
    if !isFirst { try DurableFile.remove(tokensPath) }
    // Not forced to disk yet: until there are tokens, a new device id is as good as this one.
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

  /// Takes a file's content apart; nothing of it counts before the seal was found good.
  func take(_ bytes: [UInt8], _ installation: Installation) -> Reading {
    guard !bytes.isEmpty else { return Reading() }
    var reading = Reading(bytes: bytes, isDamaged: true, why: "damaged")
    guard let end = bytes.firstIndex(of: 0x0A), bytes.starts(with: Self.opening.utf8) else {
      return reading
    }
    let seal = String(decoding: bytes[Self.opening.utf8.count..<end], as: UTF8.self)
    let body = Array(bytes[(end + 1)...])
    let limits = JSONLimits(depth: 12, bytes: Self.limit)
    let object = (try? JSONValue(reading: body, limits: limits))?.object
    guard let seal = try? Hex.decode(seal), installation.isSeal(seal, of: body) else {
      // Only to say which of the two it is: nothing else of an unsealed file is looked at.
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

  /// Forces the installation to disk, whoever made it: tokens are worth nothing without.
  ///
  /// `isDoubtful` says that an earlier try has failed. The kernel says so once only: what it says of the same file
  /// afterwards proves nothing, and the file is written anew.
  func force(_ installation: Installation, isDoubtful: Bool) throws(FileError) {
    // Somebody may have removed it under this process, whose tokens belong to it.
    let isMissing = try !PrivateFile.check(installationPath)
    if isMissing || isDoubtful { try DurableFile.write(installation.bytes, to: installationPath) }
    // Also for stores of a version that kept one only.
    let isCopied = try readInstallation(copyPath)?.deviceID == installation.deviceID
    if !isCopied || isDoubtful { try DurableFile.write(installation.bytes, to: copyPath) }
    try DurableFile.force(installationPath, copyPath)
  }

  func write(_ bytes: [UInt8]) throws(FileError) {
    try DurableFile.write(bytes, to: tokensPath)
  }

  /// The same without room for a second file: a power cut in between leaves a file without a good seal, which signs
  /// nobody in.
  func overwrite(_ bytes: [UInt8]) throws(FileError) {
    try DurableFile.overwrite(bytes, of: tokensPath)
  }
}
