public import RegentJSON

/// The result of adding or setting a record.
public enum SaveOutcome: String, Hashable, Sendable, CaseIterable {
  case added
  /// A record with this id existed and was changed.
  case changed
  /// The stored record already had this content, so nothing was written.
  case unchanged
}

/// A record after it was added or set.
///
/// The document has an additional member, which says whether it was new.
public struct Saved<Record: AdminDocument>: AdminDocument {
  public let outcome: SaveOutcome
  public let record: Record

  public init(_ record: Record, _ outcome: SaveOutcome) {
    self.record = record
    self.outcome = outcome
  }

  public init(_ object: JSONObject) throws(JSONShapeError) {
    outcome = try object.word("outcome")
    record = try Record(object)
  }

  /// The record with the additional member `outcome`.
  public var object: JSONObject {
    var object = record.object
    object["outcome"] = .string(outcome.rawValue)
    return object
  }
}
