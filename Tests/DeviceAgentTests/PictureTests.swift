import CommandKit
import RegentPlatform
import QRCode
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `The QR code as a picture` {
  private let link = "HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK"

  @Test func `the QR code can be read from a PNG file and from an SVG file`() throws {
    try withTemporaryFolder { folder in
      let png = PictureOutput(.png("\(folder)/a.png"))
      png.show(link)
      #expect(try decode(readFile("\(folder)/a.png")) == link)
      let svg = PictureOutput(.svg("\(folder)/a.svg"))
      svg.show(link)
      let text = String(decoding: try readFile("\(folder)/a.svg"), as: UTF8.self)
      #expect(try decode(rasterise(svg: text).png()) == link)
      svg.show(nil)
      #expect(throws: (any Error).self) { try readFile("\(folder)/a.svg") }
    }
  }

  @Test(arguments: [(640, 480, 32, 640 * 4), (1920, 1080, 16, 4096), (800, 600, 24, 2560)])
  func `the QR code can be read from a framebuffer, whose content is restored afterwards`(
    width: Int, height: Int, bits: Int, stride: Int
  ) throws {
    try withTemporaryFolder { folder in
      let before = (0..<(stride * height)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try writeFile("\(folder)/fb", before)
      let geometry = try #require(
        FramebufferGeometry(width: width, height: height, bitsPerPixel: bits, stride: stride))
      let pictureOutput = PictureOutput(.framebuffer(path: "\(folder)/fb", geometry))
      pictureOutput.show(link)
      let after = try readFile("\(folder)/fb")
      #expect(after.count == before.count)
      var seen = Bitmap(width: width, height: height)
      for y in 0..<height {
        for x in 0..<width where after[y * stride + x * bits / 8] == 0 {
          seen.blacken(x: x, y: y, width: 1, height: 1)
        }
      }
      #expect(try decode(seen.png()) == link)
      pictureOutput.invalidate()
      pictureOutput.show("HTTPS://TV.EXAMPLE.ORG/D/ZZZZZZZZ")
      pictureOutput.remove()
      #expect(try readFile("\(folder)/fb") == before)
    }
  }

  @Test func `a device that is not a framebuffer is reported`() throws {
    let failure = Locked<String?>(nil)
    let pictureOutput = PictureOutput(.framebuffer(path: "/dev/null", nil)) { error in
      failure.withLock { $0 = error.message }
    }
    pictureOutput.show(link)
    #expect(failure.withLock { $0 }?.contains("/dev/null") == true)
  }

  @Test(arguments: [
    ["qr", "TEXT", "--qr", "half"], ["qr", "TEXT", "--qr", "full"],
    ["qr", "TEXT", "--qr", "ascii"],
    ["qr", "TEXT"],
  ])
  func `regent qr prints a readable code for any text`(arguments: [String]) throws {
    let result = try run(
      try builtProgram("regent"), arguments.map { $0 == "TEXT" ? link : $0 },
      environment: ["LC_ALL": "C.UTF-8", "TERM": "xterm-256color"])
    #expect(result.status == 0)
    let lines = result.outputText.split(separator: "\n").map(String.init)
    var glass = TerminalEmulator(
      WindowSize(rows: lines.count, columns: (lines.map(\.count).max() ?? 0)))
    for (row, line) in lines.enumerated() {
      try glass.show(Array("\u{1b}[\(row + 1);1H\(line)".utf8))
    }
    #expect(try decode(glass.picture(on: .light).png()) == link)
  }

  @Test(
    arguments: [
      (["qr", "x", "--qr", "png"], 2), (["qr", "x", "y"], 2), (["qr", ""], 2),
      (["qr", "x", "--qr", "framebuffer", "--framebuffer", "/dev/null"], 1),
      (["qr", "x", "--qr", "framebuffer", "--framebuffer-size", "1x"], 2),
    ] as [([String], Int32)])
  func `regent qr refuses invalid options`(arguments: [String], status: Int32)
    throws
  {
    let result = try run(
      try builtProgram("regent"), arguments, environment: ["HOME": "/nonexistent"])
    #expect(result.status == status)
    #expect(result.errorText.hasPrefix("regent: "))
  }

  /// Draws the strokes of the SVG that `PictureOutput` writes, with four pixels a unit.
  private func rasterise(svg: String) throws -> Bitmap {
    let scale = 4
    let width = try #require(svg.firstMatch(of: #/viewBox="0 0 (\d+) /#).flatMap { Int($0.1) })
    var picture = Bitmap(width: width * scale, height: width * scale)
    for stroke in svg.matches(of: #/M(\d+) (\d+)\.5h(\d+)/#) {
      let (x, y, length) = (Int(stroke.1) ?? 0, Int(stroke.2) ?? 0, Int(stroke.3) ?? 0)
      picture.blacken(x: x * scale, y: y * scale, width: length * scale, height: scale)
    }
    return picture
  }
}
