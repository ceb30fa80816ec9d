/// The rule for a password that a viewer chooses.
public enum PasswordRule {
  /// The minimum length of a password, in characters.
  ///
  /// NIST SP 800-63B requires fifteen characters for a password without a second factor.
  public static let least = 15

  /// The minimum length of a password that an operator sets during setup.
  public static let shortest = 8

  /// Whether a password is among the first that an attacker tries: too short, one repeated character, the account's
  /// name with digits around it, or a common word.
  public static func isTrivial(_ password: String, for name: AccountName) -> Bool {
    guard password.unicodeScalars.count >= shortest, Set(password.unicodeScalars).count > 2 else { return true }
    let (word, own) = (password.lowercased(), name.text.lowercased())
    let letters = Self.letters(of: word)
    return word == own || letters == Self.letters(of: own) || common.contains(word) || common.contains(letters)
      || "01234567890123456789".contains(word) || "98765432109876543210".contains(word)
  }

  private static func letters(of word: String) -> String { word.filter { !$0.isNumber && !$0.isPunctuation } }

  private static let common: Set<String> = [
    "password", "passwort", "passw0rd", "kennwort", "changeme", "letmein", "welcome", "willkommen", "qwerty", "qwertz",
    "qwertyuiop", "qwertzuiop", "asdfghjkl", "iloveyou", "administrator", "guest", "guests", "hotel", "television",
  ]
}
