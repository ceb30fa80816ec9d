// PairingStore: what the service keeps, as a contract: record types, verbs that say what they guarantee, a store in
// memory, and checks that every store must pass. Owns the meaning of each verb and the rules that run inside its
// transaction. Knows no database, no file and no key: PairingStoreSQLite writes and signs the rows, Pairing holds the
// rules of the codes, PairingService decides which verb to call.
//
// Start with Verbs/Store.swift.
