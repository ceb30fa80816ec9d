import RegentCryptography
import RegentJSON
import RegentPlatform

/// The token cache: in memory, and in a folder that several processes of one user may share.
///
/// The folder contains `installation` (device id and key), `tokens` (sealed with that key) and a lock file. A process
/// that writes takes the lock, reads the file, applies its own changes, and replaces the file durably.
final class TokenStore: Sendable {
  private let files: StoreFiles?
  private let state: Locked<TokenStoreState>
  let installation: Installation
  /// A status for the app, if the store deleted the tokens of an earlier run when it was opened.
  let openingNews: EntitlementStatus?

  private struct TokenStoreState: Sendable {
    var content = StoreContent()
    /// The file's bytes as last read or written, and the content that was parsed from them.
    ///
    /// An unchanged file is not parsed again.
    var bytes: [UInt8] = []
    var onDisk = StoreContent()
    /// Changes that are not written yet, for example because the disk is full.
    var unsaved: [(number: Int, change: UnsavedChange)] = []
    /// The number of the last change to the token store.
    var lastNumber = 0
    /// The first change numbers of the writes in progress.
    var writing: [Int] = []
    /// Why the last write failed; nil if it succeeded.
    var failure: FileError?
    var installed = Installed.notYet

    /// - Returns: the number of the first new change.
    mutating func add(_ changes: [UnsavedChange]) -> Int {
      let first = lastNumber + 1
      writing.append(first)
      for change in changes {
        content.apply(change)
        lastNumber += 1
        unsaved.append((lastNumber, change))
      }
      return first
    }

    /// Replaces the content in memory by the file's content, and applies the unsaved changes to it again.
    ///
    /// If another process wrote a sign-in or its end, older unsaved changes of that requestor are dropped. A sign-out
    /// that a full disk refused must not end a sign-in that came after it.
    mutating func take(_ reading: StoreFiles.Reading) {
      let known = Set(onDisk.requestors.keys).union(reading.content.requestors.keys)
      let others = known.filter {
        onDisk.requestors[$0]?.authentication != reading.content.requestors[$0]?.authentication
      }
      let newest = writing.min() ?? .max
      unsaved.removeAll { number, change in
        if number < newest, case .tokens(let requestor, _) = change { others.contains(requestor) } else { false }
      }
      written(reading.content, reading.bytes, upTo: 0)
    }

    mutating func written(_ new: StoreContent, _ bytes: [UInt8], upTo number: Int) {
      self.bytes = bytes
      onDisk = new
      content = new
      unsaved.removeAll { $0.number <= number }
      for (_, change) in unsaved { content.apply(change) }
    }
  }

  /// Whether the device id is on disk: this process has not written it yet, has forced it to disk (fsync), or the fsync
  /// failed.
  private enum Installed { case notYet, forced, doubtful }

  /// A change to the token store that is not on disk yet.
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
      state = Locked(TokenStoreState())
    case .folder(let path):
      let files = try StoreFiles(path)
      self.files = files
      let opened = try files.open(machineID: machineID)
      installation = opened.installation
      var state = TokenStoreState()
      var news = opened.news
      let reading = try files.read(opened.installation)
      state.written(reading.content, reading.bytes, upTo: 0)
      if reading.isDamaged { news = news ?? Self.cleared(reading.why) }
      self.state = Locked(state)
      openingNews = news
    }
  }

  /// The machine's id.
  ///
  /// It is empty on a machine without one (some containers).
  private static func machineID(_ path: String) -> String {
    let bytes = (try? DurableFile.read(path, limit: 4096, widest: nil)) ?? []
    return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
  }

  static func cleared(_ why: String) -> EntitlementStatus {
    EntitlementStatus(
      .deviceChanged, message: "the tokens kept on this device have been cleared",
      extras: ["details": why])
  }

  /// Takes the lock for requesting a code; nil for a store in memory, which needs none.
  func codeTurn() throws(FileError) -> CodeTurn? {
    guard let files else { return nil }
    return CodeTurn(try files.codeLock())
  }

  /// The tokens of a requestor, from memory.
  func tokens(of requestor: String) -> RequestorTokens {
    state.withLock { $0.content.requestors[requestor] ?? RequestorTokens() }
  }

  func client(_ key: String) -> RegisteredClient? { state.withLock { $0.content.clients[key] } }

  /// When an earlier run last wrote to this store, in milliseconds since 1970; 0 if none did.
  var newestFileTime: Int64 { files?.newestTime ?? 0 }

  var serverTime: Int64 { state.withLock { $0.content.serverTime } }

  /// Reads the store's file again if another process has changed it.
  ///
  /// - Returns: a status for the app if the file is damaged.
  func refresh() -> EntitlementStatus? {
    guard let files else { return nil }
    // If the file cannot be read now, the content in memory stays.
    guard let bytes = try? files.readBytes() else { return nil }
    return state.withLock { state in
      guard bytes != state.bytes else { return nil }
      let reading = files.take(bytes, installation)
      state.bytes = bytes
      // Keep the content in memory. The next write replaces the damaged file.
      guard !reading.isDamaged else { return Self.cleared(reading.why) }
      state.take(reading)
      return nil
    }
  }

  /// Changes tokens: in memory at once, and on disk before it returns.
  ///
  /// The call may block for the disk and for other processes.
  ///
  /// - Throws: `FileError` if the changes could not be written. They are kept and written with the next ones.
  func save(_ changes: [UnsavedChange]) throws(FileError) {
    guard let files else {
      return state.withLock { state in
        for change in changes { state.content.apply(change) }
      }
    }
    let first = state.withLock { $0.add(changes) }
    defer { state.withLock { $0.writing.removeAll { $0 == first } } }
    do throws(FileError) {
      let lock = try files.lock()
      try write(to: files)
      lock.release()
    } catch {
      state.withLock { $0.failure = error }
      throw error
    }
  }

  private func write(to files: StoreFiles) throws(FileError) {
    let endsSignIn = state.withLock { $0.unsaved.contains(where: \.change.endsSignIn) }
    do throws(FileError) {
      try install(files)
    } catch {
      // The device id could not be forced to disk. A sign-out does not need it, so write the sign-out anyway.
      guard endsSignIn else { throw error }
    }
    let reading = try files.read(installation)
    let (content, last) = state.withLock { state in
      // If the file is damaged, it is replaced by the content in memory.
      if !reading.isDamaged { state.take(reading) }
      return (state.content, state.lastNumber)
    }
    let bytes = files.sealed(content, installation)
    do throws(FileError) {
      try files.write(bytes)
    } catch {
      // A sign-out must be stored even on a full disk. Otherwise the next start would sign the viewer in again.
      guard endsSignIn, (try? files.overwrite(bytes)) != nil else { throw error }
    }
    state.withLock { state in
      state.failure = nil
      state.written(content, bytes, upTo: last)
    }
  }

  /// Why a sign-out of the requestor is not on disk yet; nil if it is.
  ///
  /// A restart would undo the sign-out.
  func unkeptSignOut(of requestor: String) -> FileError? {
    state.withLock { state in
      let isOpen = state.unsaved.contains { _, change in
        if change.endsSignIn, case .tokens(requestor, _) = change { true } else { false }
      }
      return isOpen ? state.failure : nil
    }
  }

  /// Forces the device id to disk before there are tokens that need it.
  ///
  /// The sign-in that follows then waits less. The call may block for the disk. A failure is ignored here: when tokens
  /// are stored, the write is repeated, and a failure of that is reported.
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

extension TokenStore.UnsavedChange {
  fileprivate var endsSignIn: Bool {
    switch self {
    case .tokens(_, .signedOut), .tokens(_, .authentication(nil)): true
    case .tokens, .client, .serverTime: false
    }
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
