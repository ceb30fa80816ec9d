internal import Glibc
internal import SQLite
internal import Synchronization

/// Something that happens once.
final class Signal: Sendable {
  private let happened = Atomic(false)

  func give() { happened.store(true, ordering: .releasing) }

  var isGiven: Bool { happened.load(ordering: .acquiring) }

  /// Waits on a task.
  func wait() async {
    while !happened.load(ordering: .acquiring) { await Task.yield() }
  }

  /// Waits on a thread of one's own.
  func waitBlocking() {
    while !happened.load(ordering: .acquiring) { usleep(100) }
  }
}

/// A value that several threads put things into.
final class Collected<Element: Sendable>: Sendable {
  private let elements = Monitor<[Element]>([])

  func add(_ element: Element) { elements.withLock { $0.append(element) } }
  var all: [Element] { elements.withLock { $0 } }

  /// Waits until there are so many.
  func wait(for count: Int) async -> [Element] {
    while true {
      let now = all
      if now.count >= count { return now }
      await Task.yield()
    }
  }
}
