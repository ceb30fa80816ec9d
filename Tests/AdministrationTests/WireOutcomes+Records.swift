/// The expected outcomes for the records that operators write.
extension WireRecord {
  static let recordOutcomes = [
    WireOutcome(
      "Requestor name",
      #"""
      none null: is "acme"
      -1 true [1] {}: must be a string
      "": must be 1 to 200 bytes of text without invisible or control characters
      "x y": is kept
      """#),
    WireOutcome(
      """
      Requestor domains redirectUris metadata
      Account zipCodes channels
      """,
      #"""
      none null: is []
      -1 true "" "x y" [1] {}: must be an array of strings
      """#),
    WireOutcome(
      """
      Requestor logo
      Provider(local) logo
      """,
      #"""
      none null: is left out
      -1 true [1] {}: must be a string
      "" "x y": must be a web address such as https://tv.example.org/logo.png
      """#),
    WireOutcome(
      "Requestor color",
      #"""
      none null: is left out
      -1 true [1] {}: must be a string
      "" "x y": must be a colour as six hexadecimal digits: #0A7CFF
      """#),
    WireOutcome(
      """
      Requestor contact
      Provider(local) platformId
      Entitlement message
      """,
      #"""
      none null: is left out
      -1 true [1] {}: must be a string
      "": must be 1 to 200 bytes of text without invisible or control characters
      "x y": is kept
      """#),
    WireOutcome(
      "Requestor certificate",
      #"""
      none null: is left out
      -1 true [1] {}: must be a string
      "" "x y": must be a certificate in PEM, without any private key
      """#),
    WireOutcome(
      "Requestor signaturePolicy",
      #"""
      none null: is "standard"
      -1 true [1] {}: must be a string
      "" "x y": must be one of standard, compatible, strict
      """#),
    WireOutcome(
      "Requestor registration",
      #"""
      none null: is "statement"
      -1 true [1] {}: must be a string
      "" "x y": must be one of closed, statement, open
      """#),
    WireOutcome(
      """
      Requestor enhancedErrors numberMatching exposeDeviceId platform
      Provider(local) featured secureSheet
      Provider(temporary) featured secureSheet promotional
      Integration singleSignOn
      Account disabled
      """,
      #"""
      none null: is false
      -1 "" "x y" [1] {}: must be true or false
      true: is kept
      """#),
    WireOutcome(
      "Provider(local) name",
      #"""
      none null: is "cable"
      -1 true [1] {}: must be a string
      "": must be 1 to 200 bytes of text without invisible or control characters
      "x y": is kept
      """#),
    WireOutcome(
      """
      Provider(local) kind
      Provider(temporary) kind
      """,
      #"""
      none null: is missing
      -1 true [1] {}: must be a string
      "" "x y": must be one of local, temporary
      """#),
    WireOutcome(
      """
      Provider(local) boarding
      Provider(temporary) boarding
      """,
      #"""
      none null: is "none"
      -1 true [1] {}: must be a string
      "" "x y": must be one of none, picker, supported
      """#),
    WireOutcome(
      "Provider(temporary) name",
      #"""
      none null: is "free"
      -1 true [1] {}: must be a string
      "": must be 1 to 200 bytes of text without invisible or control characters
      "x y": is kept
      """#),
    WireOutcome(
      "Provider(temporary) lifetimeMs",
      #"""
      none null: is 600000
      -1: must be milliseconds, from 1 to ten years
      true "" "x y" [1] {}: must be a whole number
      """#),
    WireOutcome(
      "Provider(temporary) resourceLimit",
      #"""
      none null: is left out
      -1: must be a number from 1 to 100000
      true "" "x y" [1] {}: must be a whole number
      """#),
    WireOutcome(
      "Integration enabled",
      #"""
      none null: is true
      -1 "" "x y" [1] {}: must be true or false
      true: is kept
      """#),
    WireOutcome(
      "Integration authenticationLifetimeMs",
      #"""
      none null: is 2592000000
      -1: must be milliseconds, from 1 to ten years
      true "" "x y" [1] {}: must be a whole number
      """#),
    WireOutcome(
      "Integration authorizationLifetimeMs",
      #"""
      none null: is 86400000
      -1: must be milliseconds, from 1 to ten years
      true "" "x y" [1] {}: must be a whole number
      """#),
    WireOutcome(
      "Integration preauthorizationLimit",
      #"""
      none null: is 5
      -1: must be a number from 1 to 1000
      true "" "x y" [1] {}: must be a whole number
      """#),
    WireOutcome(
      "Integration profiles",
      #"""
      none null {}: is left out
      -1 true "" "x y" [1]: must be an object
      """#),
    WireOutcome(
      "Integration degradation",
      #"""
      none null: is left out
      -1 true [1] {}: must be a string
      "" "x y": must be one of authn-all, authz-all, authz-none
      """#),
    WireOutcome(
      "Account name",
      #"""
      none null: is missing
      -1 true [1] {}: must be a string
      "": must be 1 to 254 bytes of text without control characters
      "x y": is kept
      """#),
    WireOutcome(
      """
      ParentalRating scheme value
      Saved scheme value
      """,
      #"""
      none: is missing
      null -1 true [1] {}: must be a string
      "": member "maximumRatings" must be schemes and values of 1 to 64 bytes
      "x y": is kept
      """#),
    WireOutcome(
      "Entitlement deny",
      #"""
      none null: member "allow" must be given if "deny" is not, and only then
      -1 true [1] {}: must be a string
      "": must be a pattern of 1 to 256 bytes; * matches any text
      "x y": is kept
      """#),
    WireOutcome(
      "EntitlementRequest allow",
      #"""
      none null: must be given if "deny" is not, and only then
      -1 true [1] {}: must be a string
      "": must be a pattern of 1 to 256 bytes; * matches any text
      "x y": is kept
      """#),
    WireOutcome(
      "ProvisioningFile requestors",
      #"""
      none null: is []
      -1 true "" "x y" {}: must be an array
      [1]: member "requestors[0]" must be an object
      """#),
    WireOutcome(
      "ProvisioningFile providers",
      #"""
      none null: is []
      -1 true "" "x y" {}: must be an array
      [1]: member "providers[0]" must be an object
      """#),
    WireOutcome(
      "ProvisioningFile integrations",
      #"""
      none null: is []
      -1 true "" "x y" {}: must be an array
      [1]: member "integrations[0]" must be an object
      """#),
    WireOutcome(
      "ProvisioningFile accounts",
      #"""
      none null: is []
      -1 true "" "x y" {}: must be an array
      [1]: member "accounts[0]" must be an object
      """#),
    WireOutcome(
      "ProvisioningFile entitlements",
      #"""
      none null: is []
      -1 true "" "x y" {}: must be an array
      [1]: member "entitlements[0]" must be an object
      """#),
    WireOutcome(
      "Saved outcome",
      #"""
      none null: is missing
      -1 true [1] {}: must be a string
      "" "x y": must be one of added, changed, unchanged
      """#),
  ]
}
