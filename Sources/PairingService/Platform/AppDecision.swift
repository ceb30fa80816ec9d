/// A viewer's decision whether an app may use the box's account, as boxes and pages represent it.
package enum AppDecision: String, CaseIterable, Sendable {
  case granted, denied, undetermined

  init(_ isGranted: Bool?) { self = isGranted.map { $0 ? .granted : .denied } ?? .undetermined }

  var isGranted: Bool? {
    switch self {
    case .granted: true
    case .denied: false
    case .undetermined: nil
    }
  }
}
