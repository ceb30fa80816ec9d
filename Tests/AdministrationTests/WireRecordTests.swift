import RegentJSON
import RegentPairing
import Testing

@testable import Administration

/// Recorded JSON of every document.
///
/// regentctl and regentd may be of different versions, and scripts read `--json`.
@Suite struct `JSON form of the admin documents` {
  @Test(arguments: WireRecord.kinds)
  func `each document is written back with the same bytes`(kind: WireKind) throws {
    let object = try #require(try JSONValue(reading: Array(kind.text.utf8)).object)
    #expect(try kind.reread(object).description == kind.text)
    var more = object
    more["nmae"] = 1
    if kind.refusesUnknown {
      #expect { try kind.reread(more) } throws: {
        "\($0)" == "member \"nmae\" must be removed: this member is unknown"
      }
    } else {
      #expect(try kind.reread(more).description == kind.text)
    }
  }

  @Test(arguments: WireRecord.kinds)
  func `each member is accepted and refused with the recorded error`(kind: WireKind) throws {
    let object = try #require(try JSONValue(reading: Array(kind.text.utf8)).object)
    for member in object.members.map(\.name) {
      let known = WireRecord.outcomes.first { $0.isAbout(member, of: kind) }
      #expect(outcomes(of: member, in: object, kind) == known?.lines, "\(kind.name): \(member)")
    }
  }
}

/// One kind of document, with a value in every member.
struct WireKind: Sendable, CustomTestStringConvertible {
  let name: String
  /// The JSON text, byte for byte.
  let text: String
  /// Reads the document and writes it again.
  let reread: @Sendable (JSONObject) throws(JSONShapeError) -> JSONObject

  init<Document: AdminDocument>(_: Document.Type, as name: String? = nil, _ text: String) {
    self.name = name ?? "\(Document.self)"
    self.text = text
    reread = { (object) throws(JSONShapeError) in try Document(object).object }
  }

  /// Whether an unknown member is refused; in a file that people write by hand it is a mistake.
  var refusesUnknown: Bool { name == "ProvisioningFile" }

  var testDescription: String { name }
}

/// The recorded outcome for some members when they have another value.
struct WireOutcome: Sendable {
  /// A line for each kind of document: its name and the members.
  let members: String
  /// A line for each outcome: the values, and the result.
  let lines: String

  init(_ members: String, _ lines: String) {
    self.members = members
    self.lines = lines
  }

  func isAbout(_ member: String, of kind: WireKind) -> Bool {
    members.split(separator: "\n").contains { line in
      let words = line.split(separator: " ").map(String.init)
      return words.first == kind.name && words.dropFirst().contains(member)
    }
  }
}

/// The values that replace each member in turn; nil removes it.
private let changes: [(name: String, value: JSONValue?)] = [
  ("none", nil), ("null", .null), ("-1", -1), ("true", true), ("\"\"", ""), ("\"x y\"", "x y"), ("[1]", [1]),
  ("{}", [:]),
]

/// The outcome of each replacement; replacements with the same outcome share a line.
private func outcomes(of member: String, in object: JSONObject, _ kind: WireKind) -> String {
  var lines: [(changes: [String], outcome: String)] = []
  for change in changes {
    var changed = object
    changed[member] = change.value
    let outcome = outcome(of: changed, member, from: object, kind)
    if let place = lines.firstIndex(where: { $0.outcome == outcome }) {
      lines[place].changes.append(change.name)
    } else {
      lines.append(([change.name], outcome))
    }
  }
  return lines.map { "\($0.changes.joined(separator: " ")): \($0.outcome)" }.joined(separator: "\n")
}

private func outcome(
  of changed: JSONObject, _ member: String, from object: JSONObject, _ kind: WireKind
) -> String {
  do throws(JSONShapeError) {
    let result = try kind.reread(changed)
    let others = object.members.map(\.name).filter { $0 != member && result[$0] != object[$0] }
    let isKept = result[member] != nil && result[member] == changed[member]
    let value = isKept ? "is kept" : "is \(result[member]?.description ?? "left out")"
    return others.isEmpty ? value : "\(value), changes \(others.joined(separator: " "))"
  } catch {
    let own = "member \"\(member)\" "
    return error.description.hasPrefix(own) ? String(error.description.dropFirst(own.count)) : error.description
  }
}
