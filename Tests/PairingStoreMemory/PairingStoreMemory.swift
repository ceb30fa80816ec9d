// PairingStoreMemory: a store without a file, for tests that want a service and not its disk. Owns nothing that lasts;
// it keeps the same promises as the store in SQLite (Tests/StoreConformanceTests runs both), and no program links it.
//
// Start with MemoryStore.swift.
