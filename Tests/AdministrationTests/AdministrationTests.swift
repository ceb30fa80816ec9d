import Testing

@testable import Administration

@Suite("Administration")
struct AdministrationTests {}
