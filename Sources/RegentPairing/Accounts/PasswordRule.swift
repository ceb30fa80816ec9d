/// What is asked of a password that a viewer chooses.
public enum PasswordRule {
  /// A password without a second factor: NIST SP 800-63B asks for fifteen characters.
  public static let least = 15
}
