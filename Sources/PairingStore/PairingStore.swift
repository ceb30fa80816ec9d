// PairingStore: the store's contract, as record types and as protocols whose functions (the store operations) state
// their guarantees. This target defines what each operation means and the rules that run inside its transaction. It
// knows no database, no file and no key: PairingStoreRows signs and writes the rows, RegentPairing holds the state
// machine of codes, and PairingService decides which operation to call. Tests/StoreConformance holds the checks that
// every store must pass.
//
// Start with Verbs/Store.swift.
