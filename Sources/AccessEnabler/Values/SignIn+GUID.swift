import RegentCryptography
internal import RegentEncodings

extension SignIn {
  /// The viewer as tracking data names them: the MD5 of the user id, in hexadecimal.
  var guid: String { userID.isEmpty ? "" : Hex.encode(LegacyMD5.hash(userID)) }
}
