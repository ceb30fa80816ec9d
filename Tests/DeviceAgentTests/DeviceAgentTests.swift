import Testing

@testable import DeviceAgent

@Suite("DeviceAgent")
struct DeviceAgentTests {}
