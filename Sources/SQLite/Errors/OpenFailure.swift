/// Why a database cannot be opened.
public enum OpenFailure: Error, Hashable, Sendable {
  /// A newer version of the program has written the file.
  case newerSchema(path: String, found: Int, known: Int)
  /// A migration recorded in the file has another name than this program's migration at that position.
  case foreignMigration(path: String, position: Int, found: String, expected: String)
  /// The file belongs to another program.
  case foreignFile(path: String, applicationID: Int32)
  /// The file's schema is not the one that the migrations make: another program has changed it.
  case foreignSchema(path: String, differences: [String])
  /// A migration would leave rows with invalid foreign keys, so it was rolled back.
  case brokenReferences(path: String, migration: String, table: String)
  /// The file says that a long migration is under way, but its newest migration is not a long one.
  case strayProgress(path: String, migration: String)
  /// A part of a long migration did not advance.
  ///
  /// The parts before it stay committed.
  case stuckMigration(path: String, migration: String)
  /// SQLite cannot use a write-ahead log on this file system. It uses the journal mode `journal`.
  case noWriteAheadLog(path: String, journal: String)

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
  /// The error as one sentence, without secrets.
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
