// DeviceAgent: what the box's program does: shows the code, waits, keeps the tokens, hands them to local programs. Owns
// the screens, the daemon and its sockets, the box's account for its apps, enrolment and the search for a service, and
// the client of other services' OAuth. Entitlement calls are AccessEnabler's, QR symbols QRCode's.
