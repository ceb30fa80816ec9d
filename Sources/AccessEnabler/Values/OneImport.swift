// Exports the types that an app must be able to name, so that `import AccessEnabler` is enough. The imports are
// scoped, so that the other names of these modules do not reach the app. They are exported and not aliased, because
// an alias hides the members from programs that are built with member import visibility.

@_exported public import struct RegentCryptography.RSADecryptionKey
@_exported public import struct RegentCryptography.Secret
@_exported public import enum RegentHTTPClient.CertificateAuthorities
@_exported public import enum RegentPairing.BoardingStatus
@_exported public import struct RegentPairing.Instant
@_exported public import struct RegentPairingWire.DeviceInformation
@_exported public import struct RegentPlatform.FileError
