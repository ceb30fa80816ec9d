internal import RegentPlatform
internal import SQLite
internal import TestSupport

/// A list to which several threads add elements.
final class Collected<Element: Sendable>: Sendable {
  private let elements = Monitor<[Element]>([])

  func add(_ element: Element) { elements.withLock { $0.append(element) } }
  var all: [Element] { elements.withLock { $0 } }

  /// Waits until there are `count` elements.
  func wait(for count: Int) async throws -> [Element] {
    try await eventually("\(count) answers") { all.count >= count ? all : nil }
  }
}
