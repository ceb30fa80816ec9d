// RegentPairingWire: the wire format between a box, the phone's pages, apps and the service. Owns paths, field names,
// documents in JSON and XML, error codes, the signed header, device information and the text of a media token; the
// service, the SDK and the agent share this code. Does no I/O, computes no signatures (RegentCryptography), stores
// nothing (PairingStore) and decides nothing (RegentPairing, PairingService).
//
// docs/from-regcode-to-token.md lists the choices that the public protocol leaves open.
