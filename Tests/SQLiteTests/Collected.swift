internal import RegentPlatform
internal import SQLite
internal import TestSupport

/// A value that several threads put things into.
final class Collected<Element: Sendable>: Sendable {
  private let elements = Monitor<[Element]>([])

  func add(_ element: Element) { elements.withLock { $0.append(element) } }
  var all: [Element] { elements.withLock { $0 } }

  /// Waits until there are so many.
  func wait(for count: Int) async throws -> [Element] {
    try await eventually("\(count) answers") { all.count >= count ? all : nil }
  }
}
