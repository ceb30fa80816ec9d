// RegentPairingWire: what travels between a box, a phone's pages, apps and the service: paths, field names, documents
// in JSON and XML with their exact names and types, error codes, the signed header, device information, the text of a
// media token. Owns the wire format: service, SDK and agent share this code. Does no I/O and computes
// no signature (RegentCryptography), knows no row (PairingStore) and decides nothing (Pairing, PairingService).
//
// The choices that the public protocol leaves open are listed in docs/from-regcode-to-token.md.
