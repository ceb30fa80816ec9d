// PairingStoreMemory: a store without a file, for tests of a service that need no disk. It keeps the same contract as
// the SQLite store (Tests/StoreConformanceTests runs both), and no program links it.
//
// Start with MemoryStore.swift.
