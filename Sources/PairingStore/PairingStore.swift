// PairingStore: what the service keeps, as a contract: record types and verbs that say what they guarantee. Owns the
// meaning of each verb and the rules that run inside its transaction. Knows no database, no file and no key:
// PairingStoreRows writes and signs the rows, RegentPairing holds the rules of the codes, PairingService decides
// which verb to call. The checks that every store must pass are Tests/StoreConformance.
//
// Start with Verbs/Store.swift.
