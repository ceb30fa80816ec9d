// What a program has to be able to name comes with `import MediaTokenVerifier`, and nothing besides.

@_exported public import enum RegentHTTPClient.CertificateAuthorities
@_exported public import struct RegentPairing.Instant
