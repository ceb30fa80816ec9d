package import RegentCryptography
internal import RegentEncodings

/// Public keys that belong to no client.
///
/// Their private keys were deleted when they were generated.
///
/// An assertion of an unknown client is checked with one of them, so that refusing it takes as long as refusing a wrong
/// signature of a known client.
package enum DecoyKeys {
  /// The stand-in key that checks signatures of this algorithm for clients that have no key.
  package static func key(_ algorithm: SignatureAlgorithm) -> VerifyingKey? {
    switch algorithm {
    case .rs256: rs256
    case .es256: es256
    case .edDSA: edDSA
    }
  }

  /// An ES256 stand-in key in the form in which a client registers a key.
  ///
  /// Most clients have keys of this type.
  package static var jwk: JWK? { es256.map { JWK($0, keyID: "nobody") } }

  private static let rs256 = read(
    """
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA3Kx7DaOzmRFel8RkY9nhPd1VzJljJ071zB/r0uZZ8AACCT+HoFiZht2iQ6JoZWRSY/VJ\
    O/+rgIghhRviajgpdyRh3USuKowqh7B+FexWYHcekE2/yV7FRtoGheF+54J9HnmZcPpONboEUv1Iy2rZifN5wYvOg/wPHd+24WjosYh5SQ3h7bqy62\
    zeqj5qb7tNX7NfmfW729h5Ufj43G/kULhk42/OfPKC11sNRdlTlkIPQYiLyA9RKM2Wd5eL7XHaVX2iPfuf1S3MsAaACOlICw/PIUoPUKn/FR0w/acZ\
    5NfioERqr+7P17bGaVb18PmkbxrqhcLO83sCkrU3Th8/UwIDAQAB
    """)
  private static let es256 = read(
    """
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEHXzCJ7hZ0IoAqBN8Qw4J/MDFMRiRdXk7rfUvXlxITmmxDJWCJpp2oUGhre0YN8+o7pvs2koOMhX8dX\
    ZFz1Nk7g==
    """)
  private static let edDSA = read("MCowBQYDK2VwAyEAa8L9jqbwT1W8ymoewT6nGmh17gqg0X7lLx4btHPAifg=")

  private static func read(_ spki: StaticString) -> VerifyingKey? {
    (try? Base64.decode("\(spki)")).flatMap { try? VerifyingKey(spki: $0) }
  }
}
