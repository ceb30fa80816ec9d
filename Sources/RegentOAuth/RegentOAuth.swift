// RegentOAuth: what a client, the service and the box say to each other in OAuth 2.0's words, as values: how a request
// is read, who a client says it is, what a scope, a proof and a token hold, when a refresh token counts. Knows the
// standards (RFC 6749, 7009, 7591, 7636, 7662, 8628, 9068, 9449) and no store, no clock and no socket: the service's
// rooms perform, this decides. A registration code is the user code of RFC 8628; what becomes of it is RegentPairing's.
