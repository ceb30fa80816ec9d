import PairingStore
import RegentPairing
import RegentSQL

extension AuthenticationFilter {
  /// A query that finds the candidates for this filter with an index, sorted by id.
  ///
  /// The candidates may include rows that the filter excludes. The caller checks each row against the filter.
  func query(after last: AuthenticationID?) -> SQL {
    let table = Tables.authentications
    if let id { return "\(all: table) WHERE id = \(id.text) AND id > \(last?.text ?? "")" }
    let id = last?.text ?? ""
    if let device {
      return "\(all: table) WHERE device_hash = \(device.bytes) AND id > \(id) ORDER BY id"
    }
    if let viewer {
      return """
        \(all: table) WHERE provider = \(viewer.provider.text)
        AND \("account", is: viewer.account?.text) AND id > \(id) ORDER BY id
        """
    }
    if let account {
      // The index is on provider and name. Without a provider, the query searches each provider for the name.
      guard let provider else {
        return """
          \(all: table) WHERE provider IN (SELECT id FROM provider) AND account = \(account.text)
          AND id > \(id) ORDER BY id
          """
      }
      return """
        \(all: table) WHERE provider = \(provider.text) AND account = \(account.text) AND id > \(id) ORDER BY id
        """
    }
    if let requestor {
      return """
        \(all: table) WHERE requestor = \(requestor.text) AND id > \(id)\(cheap: self) ORDER BY id
        """
    }
    return "\(all: table) WHERE id > \(id)\(cheap: self) ORDER BY id"
  }
}

extension SQL.StringInterpolation {
  /// Appends conditions that the database checks while it scans by id.
  ///
  /// Verifying the signature of a row that does not match would cost a hundred times as much.
  fileprivate mutating func appendInterpolation(cheap filter: AuthenticationFilter) {
    if let provider = filter.provider {
      appendLiteral(" AND ")
      appendLiteral(Dialect.providerWithoutIndex)
      appendLiteral(" = ")
      appendInterpolation(provider.text)
    }
    if let since = filter.since {
      appendLiteral(" AND issued >= ")
      appendInterpolation(since.milliseconds)
    }
    if let before = filter.before {
      appendLiteral(" AND issued < ")
      appendInterpolation(before.milliseconds)
    }
    if let visitorID = filter.visitorID { appendInterpolation(about: visitorID) }
  }
}
