import QRCode
import TestSupport
import Testing

@Suite struct `A drawn QR code` {
  @Test(arguments: samples)
  func `is read back from a PNG file`(sample: Sample) throws {
    let code = try QRCode(sample.text)
    #expect(try decode(code.png(scale: 4)) == sample.text)
    #expect(try decode(code.png(scale: 3, quietZone: 2)) == sample.text)
  }

  @Test(arguments: samples)
  func `is read back from SVG`(sample: Sample) throws {
    #expect(
      try decode(rasterise(svg: QRCode(sample.text).svg(title: "code <1> & 2")).png())
        == sample.text)
  }

  @Test(arguments: samples, TerminalText.Shape.allCases)
  func `is read back from a terminal`(sample: Sample, shape: TerminalText.Shape) throws {
    let code = try QRCode(sample.text)
    for colours in [TerminalText.Colours.ansi256, .ansi8] {
      let lines = code.lines(TerminalText(shape, colours: colours, quietZone: 2))
      // Its own colours make it dark on light whatever the terminal's are.
      for ground in Ground.allCases {
        #expect(try decode(rasterise(terminal: lines, on: ground).png()) == sample.text)
      }
    }
  }

  @Test(arguments: TerminalText.Shape.allCases)
  func `without colours suits the ground it is meant for`(shape: TerminalText.Shape) throws {
    let text = "HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK"
    let code = try QRCode(text)
    let onLight = code.lines(TerminalText(shape, colours: .plain))
    let onDark = code.lines(TerminalText(shape, colours: .plainInverted))
    #expect(try decode(rasterise(terminal: onLight, on: .light).png()) == text)
    #expect(try decode(rasterise(terminal: onDark, on: .dark).png()) == text)
    // The picture read is the text read: nothing but the modules is in it.
    #expect(onLight.joined().allSatisfy { " #█▀▄".contains($0) })
  }

  @Test(arguments: TerminalText.Shape.allCases, [0, 1, 2, 4])
  func `is as large as was said before`(shape: TerminalText.Shape, quietZone: Int) throws {
    let code = try QRCode("HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK")
    let text = TerminalText(shape, colours: .plain, quietZone: quietZone)
    let lines = code.lines(text)
    #expect(lines.count == text.size(side: code.side).rows)
    #expect(lines.allSatisfy { $0.count == text.size(side: code.side).columns })
  }

  @Test func `of a short address fits a terminal of 80 by 25`() throws {
    let code = try QRCode("HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK")
    let size = TerminalText(.halfBlocks, quietZone: 2).size(side: code.side)
    #expect(size == (columns: 29, rows: 15))
  }

  @Test func `resets the colours at the end of each line`() throws {
    for shape in TerminalText.Shape.allCases {
      for line in try QRCode("A").lines(TerminalText(shape)) {
        #expect(line.hasSuffix("\u{1b}[0m"))
      }
    }
  }

  @Test func `is a PNG file of which every byte is accounted for`() throws {
    let code = try QRCode("A")
    let png = code.png(scale: 1, quietZone: 4)
    // 8 signature, 25 header, 12 + 2 + 5 + 29 × (1 + 4) + 4 data, 12 end.
    #expect(png.count == 8 + 25 + 12 + 2 + 5 + 29 * 5 + 4 + 12)
    #expect(Array(png[16..<24]) == [0, 0, 0, 29, 0, 0, 0, 29])
  }

  @Test func `brings a senseless scale to the nearest sensible one`() throws {
    let code = try QRCode("A")
    #expect(code.bitmap(scale: 0).width == 29)
    #expect(code.bitmap(scale: -5, quietZone: -1).width == 21)
    #expect(code.bitmap(scale: .max).width == 29 * QRCode.largestScale)
    #expect(code.bitmap(scale: 1, quietZone: .max).width == 63)
  }
}

@Suite struct `A bitmap` {
  @Test func `clips what lies outside`() {
    var picture = Bitmap(width: 10, height: 3)
    picture.blacken(x: -5, y: -5, width: 6, height: 6)
    picture.blacken(x: 9, y: 2, width: 100, height: 100)
    picture.blacken(x: 50, y: 50, width: 5, height: 5)
    let black = (0..<3).flatMap { y in (0..<10).map { x in (x, y) } }.filter {
      picture.isBlack($0, $1)
    }
    #expect(black.map { [$0, $1] } == [[0, 0], [9, 2]])
    #expect(!picture.isBlack(-1, 0) && !picture.isBlack(10, 0))
  }
}
