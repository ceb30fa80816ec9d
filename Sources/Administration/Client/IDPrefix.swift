/// Ids may be abbreviated to their beginning, as lists on narrow terminals show them.
public enum IDPrefix {
  /// The minimum number of letters of an abbreviated id.
  public static let shortest = 8
}
