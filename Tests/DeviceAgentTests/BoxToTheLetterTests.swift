import HTTPServer
import HTTPTestSupport
import RegentHTTPCodec
import RegentJSON
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `Boxes and the details of the API` {
  @Test func `pair with a promotional pass names the data that it needs, and signs in when it is given`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let told = try await box.run(["pair", "--json", "--provider", Sample.promotion])
      #expect(told.status != 0)
      let event = try JSONValue(reading: told.output)
      #expect(event["code"]?.string == "data-needed", "\(told.outputText)")
      #expect(event["hint"]?.string?.contains("--data email=") == true)
      let given = try await box.run(
        ["pair", "--json", "--provider", Sample.promotion, "--data", "email=a@b.example"])
      #expect(given.status == 0, "\(given.outputText) \(given.errorText)")
      #expect(try await box.run(["authorize", "anything"]).status == 0)
      let wrong = try await box.run(["pair", "--provider", Sample.promotion, "--data", "email"])
      #expect(wrong.status == 2 && wrong.errorText.contains("email=ADDRESS"), "\(wrong.errorText)")
    }
  }

  @Test func `the sign-in stays valid when the service moves, and doctor confirms it`()
    async throws
  {
    let service = try await BoxService()
    try await withTemporaryFolder { folder in
      let before = try Box(folder, service.url)
      let pass = try await before.run(["pair", "--provider", Sample.pass])
      #expect(pass.status == 0, "\(pass.errorText)")
      service.stop()
      let port = try freePort()
      let server = try Server(
        [Listener(.network(.loopback, port: port), handler: try service.service.router())])
      defer { server.stop(within: .milliseconds(100)) }
      let moved = try Box(folder, "http://127.0.0.1:\(port)")
      let told = try await moved.run(["authorize", "anything"])
      #expect(told.status == 0, "\(told.errorText)")
      #expect(try await moved.run(["doctor"]).status == 0)
      // A different service does not know this box, and both commands say so.
      let other = try await BoxService()
      defer { other.stop() }
      let stranger = try Box(folder, other.url)
      #expect(try await stranger.run(["authorize", "anything"]).status == 3)
      let doctor = try await stranger.run(["doctor"])
      #expect(doctor.outputText.contains("not signed in"), "\(doctor.outputText)")
    }
  }

  @Test func `every call carries the application profile and the visitor id`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    let tap = try Tap(service)
    defer { tap.server.stop(within: .milliseconds(100)) }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, tap.url)
      let told = try await box.run(
        ["pair", "--provider", Sample.pass, "--profile", "kids", "--visitor-id", "v-1"])
      #expect(told.status == 0, "\(told.errorText)")
      let calls = tap.calls
      #expect(calls.count >= 3)
      #expect(
        calls.allSatisfy { $0.contains("applicationProfile=kids") && $0.hasSuffix(" v-1") }, "\(calls)")
    }
  }

  @Test func `--data reaches the service, with and without the daemon`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    let tap = try Tap(service)
    defer { tap.server.stop(within: .milliseconds(100)) }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, tap.url)
      #expect(try await box.run(["pair", "--provider", Sample.pass]).status == 0)
      var daemon: RunningProgram?
      for (place, titles) in [("by itself", ["a", "b", "c"]), ("the daemon", ["d", "e", "f"])] {
        if place == "the daemon" {
          daemon = try box.start(["daemon"], output: "daemon")
          try await box.daemonListens()
        }
        let data = ["--data", "campaign=spring", "--data", "step=2"]
        for words in [
          ["authorize", titles[0]] + data, ["token", titles[1]] + data, ["exec", titles[2]] + data + ["--", "true"],
        ] {
          let told = try await box.run(words)
          #expect(told.status == 0, "\(place): \(words) \(told.errorText)")
          let asked = tap.calls.last { $0.contains("resource=\(words[1])&") && $0.contains("generic_data") } ?? ""
          #expect(
            asked.contains("generic_data=%7B%22campaign%22%3A%22spring%22%2C%22step%22%3A%222%22%7D"), "\(tap.calls)")
        }
      }
      daemon?.signal(15)
      #expect(try await eventually("the daemon's end") { daemon?.poll() } == 0)
    }
  }

  @Test(
    arguments: [
      (#"{"resource":"a"}"#, AuthorizeQuestion(resource: "a")),
      (#"{"resource":"a","data":{"b":"c"}}"#, AuthorizeQuestion(resource: "a", data: ["b": "c"])),
      (#"{"resource":"a","data":{"b":1}}"#, nil), (#"{"resource":"a","data":"b"}"#, nil), (#"{"data":{}}"#, nil),
    ] as [(String, AuthorizeQuestion?)])
  func `the daemon's authorize call takes data only as texts`(text: String, question: AuthorizeQuestion?) throws {
    let read = try JSONValue(reading: Array(text.utf8)).object.flatMap(AuthorizeQuestion.init)
    #expect(read == question)
    if let question { #expect(AuthorizeQuestion(question.document) == question) }
  }
}

/// A proxy in front of a service that records each call's query and visitor id.
private struct Tap {
  let server: Server
  let url: String
  private let log = Log()

  private final class Log: Sendable {
    let lines = Locked<[String]>([])
  }

  init(_ service: BoxService) throws {
    let inner = try service.service.router()
    let port = try freePort()
    let handler = ClosureHandler { [log] request in
      let query = String(decoding: request.query ?? [], as: UTF8.self)
      let visitor = request.header(HeaderName(literal: "AP-Visitor-Identifier")) ?? ""
      log.lines.withLock { $0.append("\(query) \(visitor)") }
      return inner.handle(request)
    }
    server = try Server([Listener(.network(.loopback, port: port), handler: handler)])
    url = "http://127.0.0.1:\(port)"
  }

  var calls: [String] { log.lines.withLock { $0 } }
}
