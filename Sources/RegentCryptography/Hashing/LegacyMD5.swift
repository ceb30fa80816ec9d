/// MD5, which protects nothing: anybody can make two texts with one hash.
///
/// For a field of an old wire format that is defined as MD5, and for nothing else.
public enum LegacyMD5 {
  /// The hash of `bytes`.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] {
    let context = DigestContext(.md5)
    context.update(bytes.span)
    return context.finish()
  }

  /// The hash of a text in UTF-8.
  public static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }
}
