import RegentPlatform

/// A Boolean state that calls a function when it changes.
final class Condition: Sendable {
  private struct ConditionState {
    var isSo = false
    var waiting: [Int: @Sendable () -> Void] = [:]
    var lastNumber = 0
  }

  private let state = Locked(ConditionState())
  private let onChange: @Sendable (_ isSo: Bool) -> Void

  init(_ onChange: @escaping @Sendable (_ isSo: Bool) -> Void) { self.onChange = onChange }

  var isSo: Bool { state.withLock { $0.isSo } }

  func note(_ isSo: Bool) {
    let (isNew, waiting) = state.withLock { state -> (Bool, [@Sendable () -> Void]) in
      let isNew = state.isSo != isSo
      state.isSo = isSo
      guard isSo else { return (isNew, []) }
      defer { state.waiting = [:] }
      return (isNew, Array(state.waiting.values))
    }
    if isNew { onChange(isSo) }
    for body in waiting { body() }
  }

  /// Calls `body` once the state is true: now, or later on the thread that notes it.
  ///
  /// - Returns: a number for ``forget(_:)``; nil if `body` was called.
  func whenSo(_ body: @escaping @Sendable () -> Void) -> Int? {
    let number = state.withLock { state -> Int? in
      guard !state.isSo else { return nil }
      state.lastNumber += 1
      state.waiting[state.lastNumber] = body
      return state.lastNumber
    }
    if number == nil { body() }
    return number
  }

  /// Removes a closure that ``whenSo(_:)`` has not called.
  func forget(_ number: Int?) {
    if let number { state.withLock { state in state.waiting[number] = nil } }
  }
}
