import PairingStore
import RegentSQL

/// Which sign-ins are deleted, by their columns alone: a row that does not verify goes as well.
enum SignInCondition {
  case id(String)
  case requestor(String)
  case provider(String)
  case account(provider: String, name: String)
  case integration(requestor: String, provider: String)
  /// Those that a key pair signed.
  case rowKey(String)
}

extension SignedRows {
  /// The tables whose rows stand on a sign-in, and go with it.
  private static let standing = ["permit", "platform_box", "oauth_grant"]

  /// Deletes sign-ins with all that stands on them.
  ///
  /// - Returns: how many sign-ins went.
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

  /// Deletes one sign-in that was read, with all that stands on it.
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
