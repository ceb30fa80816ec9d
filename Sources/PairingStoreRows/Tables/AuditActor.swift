internal import RegentEncodings
import PairingStore
import RegentJSON
import RegentPairing
import RegentSQL

/// The form of an audit line whose viewer's name was replaced by a pseudonym.
///
/// Its column `actor` begins with the word `erased` and the line's first signature, from which the hash chain of the
/// log was made. So the chain stays valid without the name. Only the service writes this column, so no text of a viewer
/// or device can imitate the form.
enum PseudonymisedLine {
  private static let word = "erased"

  static func column(of line: NumberedAuditEntry) -> JSONValue {
    let mark = line.firstSignature.map { [word, Hex.encode($0)] } ?? []
    return .list(mark + line.entry.actor.parts)
  }

  /// The actor of a line, and its first signature if it has a pseudonym.
  static func actor(of column: JSONValue) throws(UnreadableRow) -> (AuditEntry.Actor, firstSignature: [UInt8]?) {
    let parts = try column.texts()
    guard parts.first == word, parts.count > 2 else { return (try AuditEntry.Actor(parts: parts), nil) }
    guard let signature = try? Hex.decode(parts[1]) else { throw UnreadableRow() }
    return (try AuditEntry.Actor(parts: Array(parts[2...])), signature)
  }

  /// The signature of an audit row that is part of the hash chain.
  static func chained(_ values: [SQLValue], _ signature: [UInt8]) -> [UInt8] {
    guard case .text(let column) = values[2], let json = try? JSONValue(reading: Array(column.utf8), limits: .stored),
      let first = try? actor(of: json).firstSignature
    else { return signature }
    return first
  }
}

extension AuditEntry.Actor {
  fileprivate var parts: [String] {
    switch self {
    case .operator(let name): ["operator", name.text]
    case .viewer(let viewer): ["viewer", viewer.provider.text] + (viewer.account.map { [$0.text] } ?? [])
    case .device(let requestor): ["device", requestor.text]
    case .service: ["service"]
    }
  }

  /// The text of the column `actor` for a line with this actor and no pseudonym.
  var column: String { String(decoding: JSONValue.list(parts).bytes(), as: UTF8.self) }

  fileprivate init(parts: [String]) throws(UnreadableRow) {
    switch (parts.first, parts.count) {
    case ("operator", 2): self = .operator(try present(OperatorName(parts[1])))
    case ("viewer", 2):
      self = .viewer(Viewer(provider: try present(ProviderID(parts[1])), account: nil))
    case ("viewer", 3):
      self = .viewer(
        Viewer(
          provider: try present(ProviderID(parts[1])), account: try present(AccountName(parts[2]))))
    case ("device", 2): self = .device(try present(RequestorID(parts[1])))
    case ("service", 1): self = .service
    default: throw UnreadableRow()
    }
  }
}
