import RegentPairing
import PairingStore
import RegentSQL

extension Tables {
  static let boxes = Table<BoxRecord>(
    "platform_box", signer: .rowPair,
    [.text("id"), .text("authentication"), .bytes("box_key"), .number("enrolled"), .text("public_key")]
  ) { box, _ in
    [
      .text(box.id.text), .text(box.authentication.text), .blob(box.key), .integer(box.enrolled.milliseconds),
      .text(box.rowKey.text),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    BoxRecord(
      id: try fields.name(), authentication: try fields.name(), key: try fields.bytes(),
      enrolled: try fields.instant(), rowKey: try fields.name())
  }

  static let platformPermissions = Table<PlatformPermissionRecord>(
    "platform_permission", key: 3,
    [.bytes("device_hash"), .text("app"), .text("requestor"), .number("granted"), .number("decided")]
  ) { permission, _ in
    [
      .blob(permission.device.bytes), .text(permission.app), .text(permission.requestor.text),
      .integer(permission.isGranted.map { $0 ? 1 : 0 } ?? undecided), .integer(permission.decided.milliseconds),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    PlatformPermissionRecord(
      device: try fields.hash(), app: try fields.text(), requestor: try fields.name(),
      isGranted: try isGranted(fields.number()), decided: try fields.instant())
  }

  /// The value of the column `granted` for an app on which the viewer has not decided.
  ///
  /// Decided apps have 0 or 1.
  private static let undecided: Int64 = 2

  private static func isGranted(_ number: Int64) throws(UnreadableRow) -> Bool? {
    switch number {
    case 0: false
    case 1: true
    case undecided: nil
    default: throw UnreadableRow()
    }
  }

  static let usedRequests = Table<UsedText>(
    "used_profile_request", [.text("id"), .number("expires")]
  ) { request, _ in
    [.text(request.id), .integer(request.ends.milliseconds)]
  } decode: { fields, _ throws(UnreadableRow) in
    UsedText(id: try fields.text(), ends: try fields.instant())
  }
}
