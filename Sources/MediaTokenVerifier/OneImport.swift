// `import MediaTokenVerifier` also makes the two types below visible, because its public functions use them.

@_exported public import enum RegentHTTPClient.CertificateAuthorities
@_exported public import struct RegentPairing.Instant
