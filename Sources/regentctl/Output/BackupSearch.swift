import CommandKit
import Glibc
import RegentJSON
import RegentPairing
import RegentPlatform

/// Searches the copies of the database on this machine for the name of a viewer.
///
/// It looks for bytes and needs no key. It may report a copy that has only a longer name with the same beginning, if no
/// account has that name any more.
struct BackupSearch {
  /// A copy of the database that still has the viewer's name, or that could not be read.
  struct Copy {
    let path: String
    /// When nightly backups will have replaced the copy; nil if an operator must delete it.
    let until: Instant?
    /// Why the copy could not be read; nil if it was read.
    let problem: String?

    var json: JSONValue {
      var object: JSONObject = ["file": .string(path)]
      object["until"] = until.map { .string(shown($0)) }
      object["problem"] = problem.map { .string($0) }
      return .object(object)
    }

    var line: String {
      if let problem { return "  \(path): could not be searched (\(problem))" }
      guard let until else { return "  \(path): until you delete it" }
      return "  \(path): until about \(shown(until).prefix(10)), when nightly backups have replaced it"
    }
  }

  /// Where backups and the databases that a restore has replaced are by default.
  static let usual = [BackupFolder.usual, "/var/backups", "/var/lib/regentd"]

  private let needles: [[UInt8]]
  /// What follows the viewer's name in each longer account name, so that `annabel` is not taken for `anna`.
  private let others: [[UInt8]]

  init(_ viewer: Viewer, besides accounts: [AccountName]) {
    let name = viewer.account?.text ?? ""
    let list = String(decoding: JSONValue.array([.string(viewer.provider.text), .string(name)]).bytes(), as: UTF8.self)
    // A row has the two texts side by side, an audit line has them with a slash, or as elements of a list.
    needles = ["\(viewer.provider)\(name)", viewer.title, String(list.dropFirst().dropLast())].map { Array($0.utf8) }
    others = accounts.map(\.text).filter { $0 != name && $0.utf8.starts(with: name.utf8) }
      .map { Array($0.utf8.dropFirst(name.utf8.count)) }
  }

  func copies(in folders: [String]) -> [Copy] {
    let isNightly = NightlyBackup.hasSystemd && NightlyBackup.ask("is-active", NightlyBackup.timer) == 0
    return folders.flatMap { folder -> [Copy] in
      let names = ((try? FolderTree.names(in: folder)) ?? []).filter(Self.isCopy).sorted()
      let dated = names.filter(BackupFolder.isCopy)
      return names.compactMap { name -> Copy? in
        let path = "\(folder)/\(name)"
        // The timer's unit adds one backup a night, and deletes this one when it has `kept` newer ones.
        let place = dated.firstIndex(of: name).map { NightlyBackup.kept - (dated.count - 1 - $0) }
        let until = place.flatMap { nights -> Instant? in
          guard isNightly, folder == BackupFolder.usual else { return nil }
          return Instant(milliseconds: Clocks.wallMilliseconds()) + .seconds(86_400 * Int64(max(1, nights)))
        }
        do throws(SystemError) {
          return try holdsName(path) ? Copy(path: path, until: until, problem: nil) : nil
        } catch {
          return Copy(path: path, until: nil, problem: error.description)
        }
      }
    }
  }

  private static func isCopy(_ name: String) -> Bool {
    (name.hasSuffix(".db") && name != "regent.db") || name.contains(".db.before-")
  }

  private func holdsName(_ path: String) throws(SystemError) -> Bool {
    let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    let overlap = (needles.map(\.count).max() ?? 0) + (others.map(\.count).max() ?? 0)
    var window: [UInt8] = []
    while true {
      let part = try file.read(atMost: 1 << 20, from: path)
      if part.isEmpty { return false }
      window = Array(window.suffix(overlap)) + part
      for needle in needles where has(needle, in: window) { return true }
    }
  }

  private func has(_ needle: [UInt8], in bytes: [UInt8]) -> Bool {
    guard let first = needle.first else { return false }
    var start = 0
    while start + needle.count <= bytes.count {
      let end = start + needle.count
      if bytes[start] == first, bytes[start..<end].elementsEqual(needle),
        !others.contains(where: { bytes[end...].starts(with: $0) })
      {
        return true
      }
      start += 1
    }
    return false
  }
}
