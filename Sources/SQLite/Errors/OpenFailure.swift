/// Why a database could not be opened as it is.
public enum OpenFailure: Error, Hashable, Sendable {
  /// The file was written by a newer program.
  case newerSchema(path: String, found: Int, known: Int)
  /// The file's migrations are not the first ones of this program's list.
  case foreignMigration(path: String, position: Int, found: String, expected: String)
  /// The file is a database of some other program.
  case foreignFile(path: String, applicationID: Int32)
  /// Something in the file is not what the migrations made: somebody else wrote to it.
  case foreignSchema(path: String, differences: [String])
  /// A migration broke references between rows; it was rolled back.
  case brokenReferences(path: String, migration: String, table: String)
  /// The file says that a long migration is under way, and the newest one is none.
  case strayProgress(path: String, migration: String)
  /// A long migration does not move; it is left where it was.
  case stuckMigration(path: String, migration: String)
  /// The file system gave another journal than the write-ahead log.
  case noWriteAheadLog(path: String, journal: String)

  /// What to do about it.
  public var hint: String {
    switch self {
    case .newerSchema: "install the newer version again, or restore a backup made by this one"
    case .foreignMigration: "install the program version that this file belongs to"
    case .foreignFile: "give another path: this file is left as it is"
    case .strayProgress, .foreignSchema: "restore the last backup: another program wrote to this file"
    case .stuckMigration: "go back to the version before with the last backup, and report this"
    case .brokenReferences:
      "go back to the version before and report this; the file was not changed"
    case .noWriteAheadLog:
      "put the database on a local file system, not on NFS or a memory-only place"
    }
  }
}

extension OpenFailure: CustomStringConvertible {
  /// One sentence that is safe to show.
  public var description: String {
    switch self {
    case .newerSchema(let path, let found, let known):
      "\(path) has schema version \(found), this program knows versions up to \(known)"
    case .foreignMigration(let path, let position, let found, let expected):
      "\(path): migration \(position) is “\(found)”, this program expects “\(expected)”"
    case .foreignFile(let path, let applicationID):
      "\(path) belongs to another program (application id \(applicationID))"
    case .foreignSchema(let path, let differences):
      "\(path) is not as this program made it: \(differences.prefix(3).joined(separator: ", "))"
    case .brokenReferences(let path, let migration, let table):
      "\(path): migration “\(migration)” leaves rows of “\(table)” that point to nothing"
    case .strayProgress(let path, let migration):
      "\(path) is marked as half migrated, but “\(migration)” is done at once"
    case .stuckMigration(let path, let migration):
      "\(path): migration “\(migration)” does not get any further"
    case .noWriteAheadLog(let path, let journal):
      "\(path): SQLite cannot use a write-ahead log here (it says “\(journal)”)"
    }
  }
}
