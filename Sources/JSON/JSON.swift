// JSON: a strict reader and a writer for JSON values (RFC 8259). Owns the grammar, its limits and the value
// type; knows nothing of any document. The wire documents are in PairingWire, the admin documents in
// Administration.
