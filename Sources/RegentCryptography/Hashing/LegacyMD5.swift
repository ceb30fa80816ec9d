/// MD5, which is not secure: an attacker can make two texts with the same hash.
///
/// Use it only for the field of an old wire format that is defined as MD5.
public enum LegacyMD5 {
  public static func hash(_ bytes: [UInt8]) -> [UInt8] {
    let context = DigestContext(.md5)
    context.update(bytes.span)
    return context.finish()
  }

  public static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }
}
