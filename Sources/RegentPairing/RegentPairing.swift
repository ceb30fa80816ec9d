// RegentPairing: the rules by which a registration code becomes a token: identifiers, codes, the states of a code,
// long polls, permits, temporary passes, entitlements, parental ratings, integrations, signed calls, limits. It makes
// decisions: values in, a value or a typed error out. It does no I/O, reads no clock and draws no randomness; time
// and randomness are arguments. PairingStore and its adapters store the rows, RegentPairingWire parses and writes
// documents and headers, and PairingService combines them into flows.
//
// Start with PairingFlow.swift, the state machine of one registration code.
