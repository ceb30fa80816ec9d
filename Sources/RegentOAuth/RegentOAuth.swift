// RegentOAuth: the OAuth 2.0 messages between a client, the service and the box as Swift values: reading requests,
// client authentication, scopes, proofs, tokens, and when a refresh token is valid. Implements RFC 6749, 7009, 7591,
// 7636, 7662, 8628, 9068 and 9449 without a store, a clock or a socket: this target decides, PairingService performs. A
// registration code is the user code of RFC 8628; RegentPairing owns its states.
