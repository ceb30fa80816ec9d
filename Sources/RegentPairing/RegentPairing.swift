// RegentPairing: the rules by which a registration code becomes a token: identifiers, codes, the life of a code, waits,
// permits, temporary passes, entitlement, parental ratings, integrations, signed calls, limits. Owns decisions:
// values in, a value or a typed refusal out. Does no I/O, reads no clock and draws no randomness: time and
// randomness are arguments. Rows are kept by PairingStore and its adapters, documents and headers are read and
// written by RegentPairingWire, and the flows that use both are in PairingService.
//
// Start with PairingFlow.swift: the life of one registration code.
