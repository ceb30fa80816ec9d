/// The rule for a password that a viewer chooses.
public enum PasswordRule {
  /// The minimum length of a password, in characters.
  ///
  /// NIST SP 800-63B requires fifteen characters for a password without a second factor.
  public static let least = 15
}
