import Testing

@testable import AccessEnabler

@Suite("AccessEnabler")
struct AccessEnablerTests {}
