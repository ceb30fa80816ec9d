import PairingStore
import RegentSQL

/// A condition that selects sign-ins to delete.
///
/// It uses their columns without verification, so that invalid rows are deleted as well.
enum SignInCondition {
  case id(String)
  case requestor(String)
  case provider(String)
  case account(provider: String, name: String)
  case integration(requestor: String, provider: String)
  /// Selects the sign-ins whose rows this key pair signed.
  case rowKey(String)
}

extension SignedRows {
  /// The tables whose rows depend on a sign-in and are deleted with it.
  private static let standing = ["permit", "platform_box", "oauth_grant"]

  /// Deletes sign-ins together with all rows that depend on them.
  ///
  /// - Returns: the number of deleted sign-ins.
  @discardableResult
  static func deleteSignIns(_ context: borrowing WriteContext, _ which: SignInCondition) throws -> Int {
    if case .id(let id) = which {
      try deleteStanding(context, on: id)
    } else {
      for table in standing {
        try context.run(
          """
          DELETE FROM \(unsafeRawSQL: table)
          WHERE authentication IN (SELECT id FROM authentication WHERE \(which))
          """)
      }
    }
    return try context.runCounting("DELETE FROM authentication WHERE \(which)")
  }

  /// Deletes a sign-in that the transaction has read, together with all rows that depend on it.
  static func deleteSignIn(_ context: borrowing WriteContext, _ record: AuthenticationRecord) throws {
    let id = record.authentication.id.text
    try deleteStanding(context, on: id)
    try context.run(
      "DELETE FROM authentication WHERE id = \(id)",
      touching: TouchedRow(
        Tables.authentications.name,
        [
          (.text("id"), .text(id)), (.bytes("device_hash"), .blob(record.deviceHash.bytes)),
          (.text("requestor"), .text(record.authentication.requestor.text)),
        ]))
  }

  private static func deleteStanding(_ context: borrowing WriteContext, on id: String) throws {
    for table in standing {
      try context.run(
        "DELETE FROM \(unsafeRawSQL: table) WHERE authentication = \(id)",
        touching: TouchedRow(table, [(.text("authentication"), .text(id))]))
    }
  }
}

extension SQL.StringInterpolation {
  fileprivate mutating func appendInterpolation(_ which: SignInCondition) {
    switch which {
    case .id(let id): append("id = ", id)
    case .requestor(let id): append("requestor = ", id)
    case .provider(let id): append("provider = ", id)
    case .rowKey(let key): append("public_key = ", key)
    case .account(let provider, let name):
      append("provider = ", provider)
      append(" AND account = ", name)
    case .integration(let requestor, let provider):
      append("requestor = ", requestor)
      append(" AND provider = ", provider)
    }
  }

  private mutating func append(_ text: StaticString, _ value: String) {
    appendLiteral(text)
    appendInterpolation(value)
  }
}
