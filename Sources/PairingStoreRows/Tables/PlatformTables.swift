import RegentPairing
import PairingStore
import RegentSQL

extension Tables {
  static let boxes = Table<BoxRecord>(
    "platform_box", signer: .rowPair, unique: ["authentication"], .column("id", \.id),
    .column("authentication", \.authentication),
    .column("box_key", \.key), .column("enrolled", \.enrolled), .column("public_key", \.rowKey), make: BoxRecord.init)

  static let platformPermissions = Table<PlatformPermissionRecord>(
    "platform_permission", key: 3, .column("device_hash", \.device), .column("app", \.app),
    .column("requestor", \.requestor),
    .column("granted", \.grantedColumn) { @Sendable number throws(UnreadableRow) in
      number == undecided ? nil : try Bool(column: .integer(number))
    },
    .column("decided", \.decided), make: PlatformPermissionRecord.init)

  /// The value of the column `granted` for an app on which the viewer has not decided.
  ///
  /// Decided apps have 0 or 1.
  fileprivate static let undecided: Int64 = 2

  static let usedRequests = Table<UsedText>(
    "used_profile_request", indexes: [Index("expires", on: "expires")], .column("id", \.id), .column("expires", \.ends),
    make: UsedText.init)
}

extension PlatformPermissionRecord {
  fileprivate var grantedColumn: Int64 { isGranted.map { $0 ? 1 : 0 } ?? Tables.undecided }
}
