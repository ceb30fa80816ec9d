public import RegentPairing

extension SignInContext {
  /// What a box's own sign-in, which this was looked up for, means to those that stand on it; nil when it stands.
  public func pauseOrEnd(ofParent box: AuthenticationRecord) throws(StoreError) -> AuthenticationRefusal? {
    do throws(StoreError) {
      _ = try standing(box)
      return nil
    } catch {
      guard case .notInForce(let refusal) = error else { throw error }
      return refusal.isPause ? refusal : .parentEnded
    }
  }

  /// Notes what became of the box's own sign-in.
  ///
  /// - Throws: `notInForce` with its pause, when the app's own sign-in would stand: the app is not to be told that the
  ///   box's has ended, as that comes back.
  public mutating func take(
    _ refusal: AuthenticationRefusal?, ofParentOf record: AuthenticationRecord
  ) throws(StoreError) {
    parentStands = refusal.map(\.isPause) ?? true
    guard let refusal, refusal.isPause else { return }
    _ = try standing(record)
    throw .notInForce(refusal)
  }
}
