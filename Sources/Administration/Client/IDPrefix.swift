/// Ids that are typed by their beginning, as narrow terminals show them.
public enum IDPrefix {
  /// How many letters it takes at least.
  public static let shortest = 8
}
