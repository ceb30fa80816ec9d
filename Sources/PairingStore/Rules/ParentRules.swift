public import RegentPairing

extension SignInContext {
  /// Checks the box's own sign-in, on which the sign-ins of its apps depend.
  ///
  /// This context must have been read for the box's sign-in.
  ///
  /// Returns nil when it is valid, the reason of a pause when it is only paused, and `parentEnded` otherwise.
  public func pauseOrEnd(ofParent box: AuthenticationRecord) throws(StoreError) -> AuthenticationRefusal? {
    do throws(StoreError) {
      _ = try standing(box)
      return nil
    } catch {
      guard case .notInForce(let refusal) = error else { throw error }
      return refusal.isPause ? refusal : .parentEnded
    }
  }

  /// Records in this context the result of checking the box's own sign-in, on which the app's sign-in depends.
  ///
  /// - Throws: `notInForce` with the reason of the pause, when the box's sign-in is paused and the app's own would be
  ///   valid. The app must not be told that its sign-in has ended, because a pause can be lifted.
  public mutating func take(
    _ refusal: AuthenticationRefusal?, ofParentOf record: AuthenticationRecord
  ) throws(StoreError) {
    parentStands = refusal.map(\.isPause) ?? true
    guard let refusal, refusal.isPause else { return }
    _ = try standing(record)
    throw .notInForce(refusal)
  }
}
