import RegentCryptography
internal import RegentEncodings

extension SignIn {
  /// The viewer's id in tracking events: the MD5 of the user id, in hexadecimal.
  var guid: String { userID.isEmpty ? "" : Hex.encode(LegacyMD5.hash(userID)) }
}
