import PairingStore
import RegentJSON
import RegentPairing
import RegentSQL

extension Tables {
  static let enrolments = Table<EnrolmentRecord>(
    "enrolment", .column("id", \.id), .column("requestor", \.requestor), .sealed("secret", \.secret),
    .column("uses", \.uses), .column("created", \.created), .column("expires", \.expires),
    .column("boxes", \.boxColumn) { @Sendable json throws(UnreadableRow) in
      var boxes: [String: PublicKey] = [:]
      for member in try present(json.object).members {
        boxes[member.name] = try present(member.value.string.flatMap { PublicKey($0) })
      }
      return boxes
    }, make: EnrolmentRecord.init)
}

extension EnrolmentRecord {
  var boxColumn: JSONValue {
    let members = boxes.sorted { $0.key < $1.key }.map { JSONObject.Member($0.key, .string($0.value.text)) }
    return .object(JSONObject(members))
  }
}
