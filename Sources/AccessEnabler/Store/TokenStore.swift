import RegentCryptography
import RegentJSON
import RegentPlatform

/// The token cache: in memory, and in a folder that several processes of one user may share.
///
/// The folder holds `installation` (device id and key), `tokens` (sealed with that key) and a lock file. Whoever writes
/// takes the lock, reads what is there, changes only what it has to change, and replaces the file durably.
final class TokenStore: Sendable {
  private let files: StoreFiles?
  private let state: Locked<State>
  let installation: Installation
  /// Why tokens of an earlier run were cleared, if they were.
  let openingNews: EntitlementStatus?

  private struct State: Sendable {
    var content = StoreContent()
    /// The file as it was last read or written, so that an unchanged one is not taken apart again.
    var bytes: [UInt8] = []
    /// What could not be written yet, for example because the disk is full.
    var unsaved: [UnsavedChange] = []
    var installed = Installed.notYet
  }

  /// Whether this process has forced the device id to disk.
  private enum Installed { case notYet, forced, doubtful }

  /// One change that is not on disk yet.
  enum UnsavedChange: Sendable {
    case tokens(String, StoreChange)
    case client(String, RegisteredClient?)
    case serverTime(Int64)
  }

  init(_ storage: TokenStorage, machineIDFile: String) throws(FileError) {
    let machineID = Self.machineID(machineIDFile)
    switch storage {
    case .memory:
      files = nil
      installation = Installation(machineID: machineID)
      openingNews = nil
      state = Locked(State())
    case .folder(let path):
      let files = try StoreFiles(path)
      self.files = files
      let opened = try files.open(machineID: machineID)
      installation = opened.installation
      var state = State()
      var news = opened.news
      let reading = try files.read(opened.installation)
      state.content = reading.content
      state.bytes = reading.bytes
      if reading.isDamaged { news = news ?? Self.cleared(reading.why) }
      self.state = Locked(state)
      openingNews = news
    }
  }

  /// A machine without an id (some containers) has an empty one.
  private static func machineID(_ path: String) -> String {
    let bytes = (try? DurableFile.read(path, limit: 4096, widest: nil)) ?? []
    return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
  }

  static func cleared(_ why: String) -> EntitlementStatus {
    EntitlementStatus(
      .deviceChanged, message: "the tokens kept on this device have been cleared",
      extras: ["details": why])
  }

  /// Claims the right to ask for a code; nothing in memory needs it.
  func codeTurn() throws(FileError) -> CodeTurn? {
    guard let files else { return nil }
    return CodeTurn(try files.codeLock())
  }

  /// What is kept for a requestor, as it is in memory.
  func tokens(of requestor: String) -> RequestorTokens {
    state.withLock { $0.content.requestors[requestor] ?? RequestorTokens() }
  }

  func client(_ key: String) -> RegisteredClient? { state.withLock { $0.content.clients[key] } }

  var serverTime: Int64 { state.withLock { $0.content.serverTime } }

  /// Looks whether another process changed the file.
  ///
  /// - Returns: what there is to tell, when the file was found damaged.
  func refresh() -> EntitlementStatus? {
    guard let files else { return nil }
    // A file that cannot be read at this moment changes nothing: what is in memory counts.
    guard let bytes = try? files.readBytes() else { return nil }
    return state.withLock { state in
      guard bytes != state.bytes else { return nil }
      let reading = files.take(bytes, installation)
      state.bytes = bytes
      // What could not be read is worth less than what is in memory; the next write repairs it.
      guard !reading.isDamaged else { return Self.cleared(reading.why) }
      state.content = reading.content
      for change in state.unsaved { state.content.apply(change) }
      return nil
    }
  }

  /// Makes changes, in memory at once and on disk before it returns; it may sleep for the disk and for other processes.
  ///
  /// - Throws: `FileError` when the disk did not take them; they are kept, and written with the next ones.
  func save(_ changes: [UnsavedChange]) throws(FileError) {
    guard let files else {
      return state.withLock { state in
        for change in changes { state.content.apply(change) }
      }
    }
    let unsaved = state.withLock { state in
      for change in changes { state.content.apply(change) }
      state.unsaved += changes
      return state.unsaved
    }
    let lock = try files.lock()
    try install(files)
    let reading = try files.read(installation)
    // What is damaged is replaced by what this process knows.
    var content = reading.isDamaged ? state.withLock { $0.content } : reading.content
    for change in unsaved { content.apply(change) }
    let bytes = files.sealed(content, installation)
    try files.write(bytes)
    lock.release()
    state.withLock { state in
      state.unsaved.removeFirst(min(unsaved.count, state.unsaved.count))
      state.bytes = bytes
      state.content = content
      for change in state.unsaved { state.content.apply(change) }
    }
  }

  /// Forces the device id to disk before there are tokens that need it.
  ///
  /// A sign-in that is about to come waits for less then. It may sleep for the disk; what fails is tried again, and
  /// told, with the tokens.
  func installAhead() {
    if let files { try? install(files) }
  }

  private func install(_ files: StoreFiles) throws(FileError) {
    let before = state.withLock { $0.installed }
    guard before != .forced else { return }
    do throws(FileError) {
      try files.force(installation, isDoubtful: before == .doubtful)
    } catch {
      state.withLock { $0.installed = .doubtful }
      throw error
    }
    state.withLock { $0.installed = .forced }
  }
}

extension StoreContent {
  fileprivate mutating func apply(_ change: TokenStore.UnsavedChange) {
    switch change {
    case .tokens(let requestor, let change): apply(change, for: requestor)
    case .client(let key, let client): clients[key] = client
    case .serverTime(let time): serverTime = max(serverTime, time)
    }
  }
}
