import CommandKit
import RegentHTTPCodec
import RegentPlatform

/// A folder of backups with the time in their names, such as `regent-20261123T030000Z.db`.
struct BackupFolder {
  static let usual = "/var/backups/regentd"
  let path: String

  init(_ path: String) { self.path = path }

  /// The path of a new backup.
  ///
  /// The names contain the time in whole seconds. If the name of this second is taken, a later second is used.
  var nextPath: String {
    let taken = Set((try? FolderTree.names(in: path)) ?? [])
    let now = Clocks.wallMilliseconds()
    let names = (0..<60).map { Self.name(ofCopyAt: now + $0 * 1000) }
    return "\(path)/\(names.first { !taken.contains($0) } ?? Self.name(ofCopyAt: now))"
  }

  private static func name(ofCopyAt time: Int64) -> String {
    let text = CivilDate.text(epochMilliseconds: time, fraction: false)
    return "regent-\(text.filter { $0 != "-" && $0 != ":" }).db"
  }

  /// The name of a file in the folder.
  func name(of file: String) -> String { String(file.dropFirst(path.count + 1)) }

  /// Removes all but the newest backups, and the partial files of interrupted attempts.
  ///
  /// `newest` is never removed, even if a clock that was set back makes it the oldest.
  func keep(_ count: Int, andAlways newest: String) throws(FileError) {
    let names = try FolderTree.names(in: path)
    let others = names.filter { Self.isCopy($0) && $0 != newest }.sorted()
    let drafts = names.filter { $0.hasPrefix(".regent-") && $0.hasSuffix("Z.db.partial") }
    for name in others.dropLast(count - 1) + drafts { try DurableFile.remove("\(path)/\(name)") }
  }

  static func isCopy(_ name: String) -> Bool {
    name.hasPrefix("regent-") && name.hasSuffix("Z.db") && name.utf8.count == "regent-20261123T030000Z.db".utf8.count
  }
}
