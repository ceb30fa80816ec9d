import RegentPlatform

/// A Boolean state that calls a function when it changes.
final class Condition: Sendable {
  private let state = Locked(false)
  private let onChange: @Sendable (_ isSo: Bool) -> Void

  init(_ onChange: @escaping @Sendable (_ isSo: Bool) -> Void) { self.onChange = onChange }

  var isSo: Bool { state.withLock { $0 } }

  func note(_ isSo: Bool) {
    let isNew = state.withLock { state in
      defer { state = isSo }
      return state != isSo
    }
    if isNew { onChange(isSo) }
  }
}
