public import RegentJSON

/// What became of a record that was added or set.
public enum SaveOutcome: String, Hashable, Sendable, CaseIterable {
  /// It is new.
  case added
  /// It was there, and is as wanted now.
  case changed
  /// It was there as wanted already: nothing was written.
  case unchanged
}

/// A record after it was added or set: its own members, and what became of it.
public struct Saved<Record: AdminDocument>: AdminDocument {
  /// What became of it.
  public let outcome: SaveOutcome
  public let record: Record

  /// A record and what became of it.
  public init(_ record: Record, _ outcome: SaveOutcome) {
    self.record = record
    self.outcome = outcome
  }

  /// Reads a record and what became of it.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    outcome = try object.word("outcome")
    record = try Record(object)
  }

  /// The record with one more member.
  public var object: JSONObject {
    var object = record.object
    object["outcome"] = .string(outcome.rawValue)
    return object
  }
}
