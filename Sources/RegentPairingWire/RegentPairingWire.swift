// RegentPairingWire: what travels between a box, a phone's pages, apps and the service: paths, field names, documents in JSON
// and XML with their exact names and types, error codes, the signed header, device information, the text of a media
// token. Owns the wire; service, SDK and agent read and write it here and nowhere else. Does no I/O and computes no
// signature (RegentCryptography), knows no row (PairingStore) and decides nothing (Pairing, PairingService).
//
// Where the public record is silent, the choices are those of the protocol reference, section 15.
