import RegentdTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// The original API's forms of calls, each with its effect at a service.
@Suite("The original API's forms of calls", .regentd)
struct OriginalFormTests {
  @Test func `a delegate set later gets the callbacks from then on`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler()
    #expect(enabler.delegate == nil)
    let first = Recorder()
    enabler.delegate = first
    #expect(enabler.delegate === first)
    enabler.checkAuthentication()
    try await first.wait(for: "setAuthenticationStatus 0 USER_NOT_AUTHENTICATED_ERROR")
    let second = Recorder()
    enabler.delegate = second
    enabler.checkAuthentication()
    try await second.wait(for: "setAuthenticationStatus 0 USER_NOT_AUTHENTICATED_ERROR")
    #expect(first.callbacks.count == 1)
  }

  @Test func `the enabler does not keep its delegate alive`() throws {
    let enabler = try AccessEnabler(EnablerConfiguration(storage: .memory))
    enabler.delegate = Recorder()
    #expect(enabler.delegate == nil)
  }

  @Test func `setRequestor accepts the services before the key pair`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try AccessEnabler(EnablerConfiguration(storage: .memory), delegate: recorder)
    let older: any OlderCalls = enabler
    older.setRequestor(
      live.requestor, signedRequestorID: "", serviceProviders: [live.url], secret: live.secret,
      publicKey: live.publicKey)
    try await recorder.wait(for: "setRequestorComplete 1")
  }

  @Test func `setOptions accepts an untyped dictionary`() async throws {
    let tap = Wiretap()
    let live = try await LiveService(through: tap)
    let enabler = try await live.enabler()
    let options: [String: Any] = ["visitorID": "first", "level": 3, "kids": true]
    enabler.setOptions(options)
    tap.forget()
    try await live.signIn(enabler)
    #expect(tap.requests.allSatisfy { $0.header("AP-Visitor-Identifier") == "first" })
    let read = EnablerOptions(OriginalDictionary(options).options)
    #expect(read.others == ["level": .number(3), "kids": .flag(true)])
    let device = OriginalDictionary(["device_info": ["model": "box", "ram": 2] as [String: Any]]).options
    #expect(EnablerOptions(device).deviceInformation == ["model": "box"])
    #expect(EnablerOptions(device).deviceDetails == ["ram": .number(2)])
  }

  @Test(arguments: [
    MetadataOpcode.authentication as any Sendable, Int(MetadataOpcode.authentication), Int32(0),
    "METADATA_AUTHENTICATION",
  ])
  func `getMetadata accepts an opcode as a number or a name`(operation: any Sendable) async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let question: [String: Any] = ["METADATA_OPCODE_KEY": operation]
    enabler.getMetadata(question)
    try await recorder.wait(for: "setMetadataStatus METADATA_AUTHENTICATION none false")
  }

  @Test func `each metadata opcode has its number and its name`() {
    #expect(
      (0...3).map { MetadataOpcode(rawValue: $0)?.name } == [
        "METADATA_AUTHENTICATION", "METADATA_AUTHORIZATION", "METADATA_DEVICE_ID", "METADATA_USER_META",
      ])
    #expect(MetadataOpcode(rawValue: 4) == nil && MetadataOpcode(rawValue: -1) == nil)
    #expect(MetadataOpcode(named: "METADATA_USER_META").map { Int($0) } == 3)
    #expect("METADATA_USER_META" == MetadataOpcode.userMetadata)
    let arguments = OriginalDictionary(["METADATA_OPCODE_KEY": 3, "METADATA_USER_META_KEY": "zip"]).metadataArguments
    #expect(MetadataRequest(arguments) == .user("zip"))
  }

  @Test func `getAuthentication accepts a filter as an untyped dictionary`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let older: any OlderCalls = enabler
    older.getAuthentication([ProviderFilter.providersKey: ["pass"]])
    try await recorder.wait(for: "displayProviderDialog")
    older.getAuthentication(true, withData: ["step": 2, "campaign": "spring"], andFilter: nil)
    let filter = OriginalDictionary(["TV_PROVIDERS": ["a", "b"], "FEATURED_TV_PROVIDERS": ["b", "c"]]).filter
    #expect(filter == ProviderFilter(providers: ["a", "b"], featured: ["b"]))
    #expect(OriginalDictionary(["step": 2, "on": true, "list": ["no"]]).texts == ["step": "2", "on": "true"])
  }
}
