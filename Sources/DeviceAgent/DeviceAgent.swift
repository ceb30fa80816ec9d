// DeviceAgent: what the box's program does: shows the code, waits, keeps the tokens, hands them to local programs.
// Owns the screens and the daemon. Entitlement calls are AccessEnabler's, QR symbols QRCode's.
