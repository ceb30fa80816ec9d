/// The recorded outcome for each document when one of its members is missing or has another value.
///
/// A change of what is accepted, what is refused, or the error text shows here.
extension WireRecord {
  static let outcomes = documentOutcomes + recordOutcomes

  private static let documentOutcomes = [
    WireOutcome(
      "AdminError error",
      #"""
      none: is missing
      null -1 true "" "x y" [1]: must be an object
      {}: member "code" is missing
      """#),
    WireOutcome(
      """
      Difference member
      AuditLine actor action subject outcome
      CodeEntry state deviceId
      KeyPairEntry purpose state
      IssuedKey secret
      StatementEntry application
      IssuedStatement softwareStatement
      SignInEntry device deviceId source
      TokenQuestion token
      PassEntry place device
      ServiceInfo version
      BackupEntry id sha256
      Finding check detail
      """,
      #"""
      none: is missing
      null -1 true [1] {}: must be a string
      "" "x y": is kept
      """#),
    WireOutcome(
      "Difference stored wanted",
      #"""
      none: is left out
      null -1 true "" "x y" [1] {}: is kept
      """#),
    WireOutcome(
      """
      AuditLine number at
      CodeEntry generated expires
      KeyPairEntry created
      StatementEntry issued
      SigningKeyEntry created signsFrom
      SignInEntry issued expires
      SessionEntry started lastUsed expires
      Stats since
      HourCount start
      PassEntry started until
      ServiceInfo started
      BackupEntry size created
      """,
      #"""
      none: is missing
      null true "" "x y" [1] {}: must be a whole number
      -1: is kept
      """#),
    WireOutcome(
      "AuditLine detail",
      #"""
      none null "": is left out
      -1 true [1] {}: must be a string
      "x y": is kept
      """#),
    WireOutcome(
      """
      CodeEntry id requestor
      CodeApproval provider
      KeyPairEntry publicKey requestor
      IssuedKey publicKey
      StatementEntry id requestor
      IssuedStatement id
      SigningKeyEntry id
      SignInEntry id requestor provider
      SessionEntry id provider
      ProviderCount provider
      PassEntry requestor provider
      PassReset(device) requestor provider
      PassReset(identity) requestor provider
      Requestor id
      Provider(local) id
      Provider(temporary) id
      Integration requestor provider
      Account provider
      Entitlement provider id
      EntitlementRequest provider
      """,
      #"""
      none null: is missing
      -1 true [1] {}: must be a string
      "" "x y": must be 1 to 128 letters, digits, dots, dashes or underscores, without spaces
      """#),
    WireOutcome(
      """
      CodeEntry device address
      SignInEntry givenName name address userAgent
      SessionEntry address userAgent
      TokenQuestion resource
      TokenVerdict reason keyId requestor provider resource
      PassReset(device) device
      PassReset(identity) identity
      ServiceInfo publicUrl
      Finding fix
      """,
      #"""
      none null: is left out
      -1 true [1] {}: must be a string
      "" "x y": is kept
      """#),
    WireOutcome(
      "CodeEntry preselected provider",
      #"""
      none null: is left out
      -1 true [1] {}: must be a string
      "" "x y": must be 1 to 128 letters, digits, dots, dashes or underscores, without spaces
      """#),
    WireOutcome(
      """
      CodeEntry account
      CodeApproval account
      SignInEntry account
      SessionEntry account
      EntitlementRequest account
      """,
      #"""
      none null: is left out
      -1 true [1] {}: must be a string
      "": must be 1 to 254 bytes of text without control characters
      "x y": is kept
      """#),
    WireOutcome(
      """
      KeyPairEntry lastUsed
      SigningKeyEntry neededUntil
      SignInEntry lastUsed
      TokenVerdict issued expires
      """,
      #"""
      none null: is left out
      -1: is kept
      true "" "x y" [1] {}: must be a whole number
      """#),
    WireOutcome(
      """
      StatementEntry revoked
      TokenVerdict valid
      PassEntry identified
      """,
      #"""
      none: is missing
      null -1 "" "x y" [1] {}: must be true or false
      true: is kept
      """#),
    WireOutcome(
      "SigningKeyEntry state",
      #"""
      none null: is missing
      -1 true [1] {}: must be a string
      "" "x y": must be one of published, signing, retired
      """#),
    WireOutcome(
      """
      SignInEntry household
      Account household
      Entitlement household
      """,
      #"""
      none null: is left out
      -1 true [1] {}: must be a string
      "": must be 1 to 128 bytes of text without control characters
      "x y": is kept
      """#),
    WireOutcome(
      """
      Stats started opened approved denied expired withdrawn waiting liveCodes wrongCodes
      ProviderCount approved signIns
      HourCount started approved
      """,
      #"""
      none null: is 0
      -1: must be a number from 0 to 1000000000000000
      true "" "x y" [1] {}: must be a whole number
      """#),
    WireOutcome(
      "Stats medianTimeToApproveMs",
      #"""
      none null: is left out
      -1: must be milliseconds, from 1 to ten years
      true "" "x y" [1] {}: must be a whole number
      """#),
    WireOutcome(
      """
      Stats providers hours
      Account maximumRatings
      """,
      #"""
      none null: is []
      -1 true "" "x y" {}: must be an array
      [1]: must be an object
      """#),
    WireOutcome(
      "PassEntry state",
      #"""
      none null: is missing
      -1 true [1] {}: must be a string
      "" "x y": must be one of running, used
      """#),
    WireOutcome(
      "PassEntry titles",
      #"""
      none null: is 0
      -1: must be a number from 0 to 9223372036854775807
      true "" "x y" [1] {}: must be a whole number
      """#),
    WireOutcome(
      "PassEntry titleLimit",
      #"""
      none null: is left out
      -1: must be a number from 0 to 9223372036854775807
      true "" "x y" [1] {}: must be a whole number
      """#),
    WireOutcome(
      "Finding status",
      #"""
      none null: is missing
      -1 true [1] {}: must be a string
      "" "x y": must be one of good, warning, bad
      """#),
    WireOutcome(
      "CountDocument count",
      #"""
      none null: is missing
      -1: must be a number from 0 to 9223372036854775807
      true "" "x y" [1] {}: must be a whole number
      """#),
  ]
}
