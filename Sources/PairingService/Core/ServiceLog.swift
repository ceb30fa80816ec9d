/// Where the service tells what happened to whoever runs it: the program decides how lines look and where they go.
///
/// Values may come from strangers; secrets have no way in, every value is named one by one.
package struct ServiceLog: Sendable {
  /// How much it matters.
  package enum Level: Sendable {
    case error, warning, info
  }

  private let write: @Sendable (Level, StaticString, [(String, String)]) -> Void

  /// Lines go to a closure.
  package init(_ write: @escaping @Sendable (Level, StaticString, [(String, String)]) -> Void) {
    self.write = write
  }

  /// Lines go nowhere.
  package static let silent = ServiceLog { _, _, _ in }

  /// Something that nobody has to do anything about.
  package func info(_ event: StaticString, _ fields: (String, String)...) {
    write(.info, event, fields)
  }

  /// Something that somebody should look at.
  package func warning(_ event: StaticString, _ fields: (String, String)...) {
    write(.warning, event, fields)
  }

  /// Something that does not work.
  package func error(_ event: StaticString, _ fields: (String, String)...) {
    write(.error, event, fields)
  }
}
