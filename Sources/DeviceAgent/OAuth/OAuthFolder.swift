import CommandKit
import RegentCryptography
import RegentHTTPClient
import RegentJSON
import RegentPlatform

/// The files of one sign-in of `regent oauth`: a folder of mode 0700 with files of mode 0600, which are written
/// atomically.
///
/// The key to which tokens are bound has its own file, because it outlives the tokens.
struct OAuthFolder: Sendable {
  let name: String
  private let path: String
  private let parent: String

  /// The maximum number of sign-ins of a box at OAuth servers.
  ///
  /// Each needs a folder, and a list reads all folders.
  static let most = 64
  private static let limit = 262_144
  /// How long to wait for the lock, in seconds.
  ///
  /// It exceeds the time that a token refresh may take.
  private static let patience = Duration.seconds(45)

  init(_ name: String, in state: String) {
    self.name = name
    parent = "\(state)/oauth"
    path = "\(parent)/\(name)"
  }

  /// The names of all sign-ins.
  static func names(in state: String) throws(CommandError) -> [String] {
    do throws(FileError) {
      return try FolderTree.names(in: "\(state)/oauth").filter(isName).sorted()
    } catch {
      if error.kind == .missing { return [] }
      throw CommandError(error.description, hint: error.hint, code: "storage")
    }
  }

  /// Whether the text is a valid name: safe as a path component and as a command-line argument.
  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
      && text.utf8.first != UInt8(ascii: "-")
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
      }
  }

  func create() throws(CommandError) {
    do throws(FileError) { try PrivateDirectory.ensure(path) } catch { throw Self.trouble(error) }
  }

  // MARK: Contents

  func client() throws(CommandError) -> OAuthClient {
    guard OAuthFolder.isName(name), let document = try read("client") else {
      throw CommandError(
        "there is no \"\(OAuthClient.shown(name))\"",
        hint: "list the names: regent oauth list; to add one, run regent oauth add", code: "not-found")
    }
    guard let client = OAuthClient(document) else { throw damaged("client") }
    return client
  }

  func keep(_ client: OAuthClient) throws(CommandError) { try write(client.document, "client") }

  func tokens() throws(CommandError) -> KeptTokens? {
    guard let document = try read("tokens") else { return nil }
    guard let tokens = KeptTokens(document) else { throw damaged("tokens") }
    return tokens
  }

  func keep(_ tokens: KeptTokens) throws(CommandError) { try write(tokens.document, "tokens") }

  func forgetTokens() throws(CommandError) { try remove("tokens") }

  /// The stored registration code.
  ///
  /// An unreadable file counts as none: the viewer only has to approve another code.
  func pendingCode() -> PendingCode? { ((try? read("pending")) ?? nil).flatMap(PendingCode.init) }

  func keep(_ code: PendingCode) throws(CommandError) { try write(code.document, "pending") }

  func forgetPendingCode() { try? remove("pending") }

  /// The key to which tokens are bound (DPoP).
  ///
  /// It is generated at the first use.
  func key() throws(CommandError) -> SigningKey {
    var bytes: [UInt8]
    do throws(FileError) {
      bytes = try DurableFile.read("\(path)/key", limit: 16_384)
    } catch {
      guard error.kind == .missing else { throw Self.trouble(error) }
      return try newKey()
    }
    guard let key = try? SigningKey(pem: Secret(emptying: &bytes)) else { throw damaged("key") }
    return key
  }

  private func newKey() throws(CommandError) -> SigningKey {
    guard let key = try? SigningKey.generate(.es256), let pem = try? key.pem() else {
      throw CommandError(
        "could not create a key for \"\(name)\"", hint: "nothing was stored; run the command again")
    }
    try write(bytes: pem.exposedBytes(), "key")
    return key
  }

  /// The certificate authorities that are trusted for this OAuth server.
  var authorities: CertificateAuthorities { isFile("\(path)/ca.pem") ? .file("\(path)/ca.pem") : .system }

  func keep(authorities pem: [UInt8]) throws(CommandError) { try write(bytes: pem, "ca.pem") }

  /// When a file of the sign-in was last written, in epoch milliseconds; a lower bound of the real time.
  var newestTime: Int64 {
    ["client", "tokens", "pending", "key"].compactMap { FileTime.modified("\(path)/\($0)") }.max() ?? 0
  }

  // MARK: Locks

  /// Locks the tokens while they are renewed or replaced, so that no two processes send the same refresh token.
  func lock() async throws(CommandError) -> FileLock {
    let end = Clocks.bootNanoseconds() + Self.patience.wholeNanoseconds
    while true {
      do throws(FileError) {
        return try FileLock(at: "\(path)/lock")
      } catch {
        guard case .held = error.kind, Clocks.bootNanoseconds() < end, !Task.isCancelled else {
          throw Self.trouble(error)
        }
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Locks the pairing while a code is shown.
  ///
  /// Two screens would otherwise redeem each other's codes.
  func pairingLock() throws(CommandError) -> FileLock {
    do throws(FileError) {
      return try FileLock(at: "\(path)/pair.lock")
    } catch {
      guard case .held = error.kind else { throw Self.trouble(error) }
      throw CommandError(
        "another program of this box is signing \"\(name)\" in",
        hint: "wait until it ends", code: "busy")
    }
  }

  /// Deletes all files of the sign-in.
  ///
  /// The client's file is deleted last, so that an interrupted removal can be repeated.
  func removeAll() throws(CommandError) {
    for file in ["tokens", "pending", "key", "ca.pem", "lock", "pair.lock", "client"] { try remove(file) }
    do throws(FileError) { try PrivateDirectory.remove(path) } catch { throw Self.trouble(error) }
  }

  // MARK: Files

  private func read(_ file: String) throws(CommandError) -> JSONValue? {
    do throws(FileError) {
      let bytes = try DurableFile.read("\(path)/\(file)", limit: Self.limit)
      return (try? JSONValue(reading: bytes, limits: JSONLimits(depth: 24, bytes: Self.limit))) ?? .null
    } catch {
      switch error.kind {
      case .missing, .notADirectory: return nil
      default: throw Self.trouble(error)
      }
    }
  }

  private func write(_ document: JSONValue, _ file: String) throws(CommandError) {
    try write(bytes: document.bytes(), file)
  }

  private func write(bytes: [UInt8], _ file: String) throws(CommandError) {
    do throws(FileError) {
      try DurableFile.write(bytes, to: "\(path)/\(file)")
    } catch {
      throw Self.trouble(error)
    }
  }

  private func remove(_ file: String) throws(CommandError) {
    do throws(FileError) {
      try DurableFile.remove("\(path)/\(file)")
    } catch {
      throw Self.trouble(error)
    }
  }

  private func damaged(_ file: String) -> CommandError {
    CommandError(
      "\(path)/\(file) is damaged",
      hint: "start again: regent oauth remove \(name), then regent oauth add \(name) --issuer URL --client-id ID",
      code: "storage")
  }

  private static func trouble(_ error: FileError) -> CommandError {
    CommandError(error.description, hint: error.hint, code: "storage")
  }
}
