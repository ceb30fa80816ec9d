import Administration
import CommandKit
import RegentPairing
import RegentPlatform

/// The options that select lines of the audit log.
struct AuditFilter {
  static let actor = Input.option(
    "actor", .text("NAME"), "select lines of this operator, viewer or requestor, such as root or cable/anna")
  static let viewer = Input.option(
    "viewer", .text("NAME"), "select lines about this viewer: PROVIDER/NAME, or NAME")
  static let box = Input.option("box", .text("ID"), "select lines about this box: its short id, or the beginning of it")
  static let action = Input.option(
    "action", .text("NAME"), "select lines with this action, such as code.report, or with all of a kind: code")
  static let since = Input.option(
    "since", .duration(.seconds(1)...(.seconds(3_650 * 86_400))), "select lines newer than this, such as 24h")
  static let before = Input.option(
    "before", .duration(.seconds(1)...(.seconds(3_650 * 86_400))), "select lines older than this, such as 7d")

  static let inputs: [any InputDeclaration] = [actor, viewer, box, action, since, before]

  private let actor: String?
  private let viewer: String?
  private let box: String?
  private let action: String?
  private let since: Instant?
  private let before: Instant?

  init(_ call: Invocation) {
    let now = Instant(milliseconds: Clocks.wallMilliseconds())
    (actor, viewer, box, action) = (call[Self.actor], call[Self.viewer], call[Self.box], call[Self.action])
    since = call[Self.since].map { now - $0 }
    before = call[Self.before].map { now - $0 }
  }

  /// Whether every line is selected.
  var isEmpty: Bool { actor == nil && viewer == nil && box == nil && action == nil && since == nil && before == nil }

  func selects(_ line: AuditLine) -> Bool {
    if let since, line.at < since { return false }
    if let before, line.at >= before { return false }
    if let action, line.action != action, !line.action.hasPrefix(action.hasSuffix(".") ? action : action + ".") {
      return false
    }
    if let actor, line.actor != actor, !Self.words(line.actor).contains(where: { Self.isViewer($0, actor) }) {
      return false
    }
    let words = Self.words(line.actor) + Self.words(line.subject) + Self.words(line.detail)
    if let viewer, !words.contains(where: { Self.isViewer($0, viewer) }) { return false }
    if let box, !words.contains(where: { Self.isBox($0, box) }) { return false }
    return true
  }

  private static func words(_ text: String) -> [Substring] {
    text.split { " ,;:()".contains($0) }
  }

  /// `cable/anna` is the viewer `cable/anna`, and `anna`.
  private static func isViewer(_ word: Substring, _ wanted: String) -> Bool {
    word == wanted || word.hasSuffix("/\(wanted)")
  }

  /// A box's short id has 16 hexadecimal digits; commands also take its beginning.
  private static func isBox(_ word: Substring, _ wanted: String) -> Bool {
    word == wanted || wanted.utf8.count >= IDPrefix.shortest && word.utf8.count == 16 && word.hasPrefix(wanted)
  }
}
