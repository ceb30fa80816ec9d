// What an app has to be able to name comes with `import AccessEnabler`, and nothing besides. Scoped, so that the
// modules below do not pour their names into every app; exported, because an alias alone hides the members from
// programs that are built with member import visibility.

@_exported public import struct RegentCryptography.RSADecryptionKey
@_exported public import struct RegentCryptography.Secret
@_exported public import enum RegentHTTPClient.CertificateAuthorities
@_exported public import enum RegentPairing.BoardingStatus
@_exported public import struct RegentPairing.Instant
@_exported public import struct RegentPairingWire.DeviceInformation
@_exported public import struct RegentPlatform.FileError
