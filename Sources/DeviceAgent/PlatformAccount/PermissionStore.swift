import AccessEnabler
import CommandKit
import RegentJSON
import RegentPlatform

/// The viewer's decisions on disk: durable before they count, at once for everybody afterwards.
///
/// What could not be written does not count: the app is asked about again, never let in. A file that cannot be read is
/// taken for no decisions at all.
final class PermissionStore: Sendable {
  private let path: String
  private let book: Locked<PermissionBook>
  /// Why the decisions of an earlier run are gone, if they are.
  let trouble: String?

  /// Opens the file in a folder that is there and private.
  init(folder: String) throws(FileError) {
    path = "\(folder)/permissions"
    var bytes: [UInt8]?
    do throws(FileError) {
      bytes = try DurableFile.read(path, limit: 1_048_576, widest: 0o600)
    } catch {
      guard error.kind == .missing else { throw error }
    }
    let read = bytes.map { PermissionBook(reading: $0) }
    book = Locked((read ?? nil) ?? PermissionBook())
    trouble =
      bytes != nil && read == .some(nil)
      ? "\(path) cannot be read: every app is asked about again" : nil
  }

  func permission(of who: AppRequestor) -> PlatformPermission { book.withLock { $0[who] } }

  var decisions: [AppRequestor: PlatformPermission] { book.withLock { $0.decisions } }

  /// Decides; when this returns, a power cut does not change it any more.
  ///
  /// - Returns: what was so before.
  @discardableResult
  func decide(_ permission: PlatformPermission, _ who: AppRequestor) throws(CommandError) -> PlatformPermission {
    let result = book.withLock { book -> Result<PlatformPermission, CommandError> in
      guard let next = book.deciding(permission, who) else {
        return .failure(
          CommandError(
            "there are \(PermissionBook.most) decisions already",
            hint: "take one back: regent sso reset APP; regent sso permissions lists them", code: "full"))
      }
      let before = book[who]
      guard next != book else { return .success(before) }
      do throws(FileError) {
        try DurableFile.write(next.document.bytes(), to: path)
      } catch {
        // When only the folder could not be forced the new file is there, with a fate that nobody knows.
        try? DurableFile.write(book.document.bytes(), to: path)
        return .failure(
          CommandError("the decision could not be kept: \(error.description)", hint: error.hint, code: "storage"))
      }
      book = next
      return .success(before)
    }
    return try result.get()
  }
}
