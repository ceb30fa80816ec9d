import QRCode
import TestSupport
import Testing

@Suite struct `Drawings of QR codes` {
  @Test(arguments: samples)
  func `a scanner reads the code from a PNG file`(sample: Sample) throws {
    let code = try QRCode(sample.text)
    #expect(try decode(code.png(scale: 4)) == sample.text)
    #expect(try decode(code.png(scale: 3, quietZone: 2)) == sample.text)
  }

  @Test(arguments: samples)
  func `a scanner reads the code from an SVG drawing`(sample: Sample) throws {
    #expect(
      try decode(rasterise(svg: QRCode(sample.text).svg(title: "code <1> & 2")).png())
        == sample.text)
  }

  @Test(arguments: samples, TerminalText.Shape.allCases)
  func `a scanner reads the code from a terminal with dark and light background`(
    sample: Sample, shape: TerminalText.Shape
  ) throws {
    let code = try QRCode(sample.text)
    for colours in [TerminalText.Colours.ansi256, .ansi8] {
      let lines = code.lines(TerminalText(shape, colours: colours, quietZone: 2))
      // With its own colours the code is dark on light, whatever the terminal's colours are.
      for ground in Ground.allCases {
        #expect(try decode(rasterise(terminal: lines, on: ground).png()) == sample.text)
      }
    }
  }

  @Test(arguments: TerminalText.Shape.allCases)
  func `a drawing without colours is readable on the background it is meant for`(shape: TerminalText.Shape) throws {
    let text = "HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK"
    let code = try QRCode(text)
    let onLight = code.lines(TerminalText(shape, colours: .plain))
    let onDark = code.lines(TerminalText(shape, colours: .plainInverted))
    #expect(try decode(rasterise(terminal: onLight, on: .light).png()) == text)
    #expect(try decode(rasterise(terminal: onDark, on: .dark).png()) == text)
    // The drawing contains only block characters, so that a picture of it has only the modules.
    #expect(onLight.joined().allSatisfy { " #█▀▄".contains($0) })
  }

  @Test(arguments: TerminalText.Shape.allCases, [0, 1, 2, 4])
  func `a terminal drawing has exactly the size that was announced`(shape: TerminalText.Shape, quietZone: Int) throws {
    let code = try QRCode("HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK")
    let text = TerminalText(shape, colours: .plain, quietZone: quietZone)
    let lines = code.lines(text)
    #expect(lines.count == text.size(side: code.side).rows)
    #expect(lines.allSatisfy { $0.count == text.size(side: code.side).columns })
  }

  @Test func `the code of a short URL fits a terminal of 80 by 25`() throws {
    let code = try QRCode("HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK")
    let size = TerminalText(.halfBlocks, quietZone: 2).size(side: code.side)
    #expect(size == (columns: 29, rows: 15))
  }

  @Test func `every line of a terminal drawing resets the colours at its end`() throws {
    for shape in TerminalText.Shape.allCases {
      for line in try QRCode("A").lines(TerminalText(shape)) {
        #expect(line.hasSuffix("\u{1b}[0m"))
      }
    }
  }

  @Test func `a PNG file has exactly the expected number of bytes`() throws {
    let code = try QRCode("A")
    let png = code.png(scale: 1, quietZone: 4)
    // Signature 8, header 25, data 12 + 2 + 5 + 29 × (1 + 4) + 4, end 12.
    #expect(png.count == 8 + 25 + 12 + 2 + 5 + 29 * 5 + 4 + 12)
    #expect(Array(png[16..<24]) == [0, 0, 0, 29, 0, 0, 0, 29])
  }

  @Test func `an invalid scale or quiet zone is replaced by the nearest valid one`() throws {
    let code = try QRCode("A")
    #expect(code.bitmap(scale: 0).width == 29)
    #expect(code.bitmap(scale: -5, quietZone: -1).width == 21)
    #expect(code.bitmap(scale: .max).width == 29 * QRCode.largestScale)
    #expect(code.bitmap(scale: 1, quietZone: .max).width == 63)
  }
}

@Suite struct `Bitmaps` {
  @Test func `a bitmap clips rectangles that reach beyond it`() {
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
