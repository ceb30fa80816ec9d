/// Abbreviated ids: operators may type only the beginning of an id, because lists on narrow terminals show no more.
public enum IDPrefix {
  /// The minimum number of letters of an abbreviated id.
  public static let shortest = 8
}
