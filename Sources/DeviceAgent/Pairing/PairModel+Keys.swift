import CommandKit
import RegentPlatform

extension PairModel {
  mutating func handle(_ key: Key, now: Int64) -> [PairEffect] {
    if case .choosing(var picker) = view.stage {
      let outcome = picker.handle(key)
      switch outcome {
      case .stays: view.stage = .choosing(picker)
      case .cancelled: leavePicker()
      case .chosen(let id):
        leavePicker()
        provider = id
        lastProvider = id
        return renew(now: now, isAsked: true)
      }
      return []
    }
    if case .resting = view.stage, key != .character("q") { return renew(now: now, isAsked: true) }
    switch key {
    case .character("n"), .character("N"): return renew(now: now, isAsked: true)
    case .character("p"), .character("P"):
      guard view.canChooseProvider, !isSignedIn else { return [] }
      covered = view.stage
      view.stage = .choosing(ProviderPicker(providers, last: provider ?? lastProvider))
      return []
    case .character("q"), .character("Q"), .control("c"), .control("d"):
      return (stage.code == nil ? [] : [.withdraw]) + [.end(codeForQuitting)]
    default:
      return isSignedIn ? [.end(.done)] : []
    }
  }

  private var isSignedIn: Bool {
    if case .signedIn = view.stage { true } else { false }
  }

  private mutating func leavePicker() {
    view.stage = covered ?? .starting
    covered = nil
  }
}
