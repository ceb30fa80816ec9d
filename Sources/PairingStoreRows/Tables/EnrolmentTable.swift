import PairingStore
import RegentJSON
import RegentPairing
import RegentSQL

extension Tables {
  static let enrolments = Table<EnrolmentRecord>(
    "enrolment",
    [
      .text("id"), .text("requestor"), .bytes("secret"), .number("uses"), .number("created"), .number("expires"),
      .text("boxes"),
    ]
  ) { one, vault in
    [
      .text(one.id.text), .text(one.requestor.text),
      vault.seal(one.secret.bytes, "enrolment.secret", of: one.id.text), .integer(Int64(one.uses)),
      .integer(one.created.milliseconds), .integer(one.expires.milliseconds), one.boxColumn,
    ]
  } decode: { fields, vault throws(UnreadableRow) in
    let id: EnrolmentID = try fields.name()
    let requestor: RequestorID = try fields.name()
    let secret = try vault.open(fields.bytes(), "enrolment.secret", of: id.text)
    let uses = try present(Int(exactly: fields.number()))
    let (created, expires) = (try fields.instant(), try fields.instant())
    var boxes: [String: PublicKey] = [:]
    for member in try present(fields.json().object).members {
      boxes[member.name] = try present(member.value.string.flatMap { PublicKey($0) })
    }
    return EnrolmentRecord(
      id: id, requestor: requestor, secret: StoredSecret(secret), uses: uses, created: created, expires: expires,
      boxes: boxes)
  }
}

extension EnrolmentRecord {
  var boxColumn: SQLValue {
    let members = boxes.sorted { $0.key < $1.key }.map { JSONObject.Member($0.key, .string($0.value.text)) }
    return JSONValue.object(JSONObject(members)).column
  }
}
