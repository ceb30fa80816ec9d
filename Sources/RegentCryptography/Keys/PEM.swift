internal import RegentEncodings

/// Reads and writes PEM texts (RFC 7468): base64 between `-----BEGIN LABEL-----` and `-----END LABEL-----`.
///
/// Text outside of blocks is skipped, because certificates often have a description before them. Inside a block the
/// base64 is strict, but its lines may have any length.
public enum PEM {
  public struct Block: Sendable, Equatable {
    /// The type of the block's content, for example `PUBLIC KEY`.
    public let label: String
    /// The content of the block, which is DER.
    public fileprivate(set) var bytes: [UInt8]

    public init(label: String, bytes: [UInt8]) {
      self.label = label
      self.bytes = bytes
    }
  }

  /// The maximum length of a PEM text in bytes.
  ///
  /// The reader refuses longer ones.
  public static let longest = 256 * 1024

  /// Reads all blocks of a PEM text in order.
  public static func decode(_ text: String) throws(KeyError) -> [Block] {
    try decode(text.utf8.span)
  }

  /// Writes a PEM block with 64 characters on each line.
  public static func encode(_ label: String, _ bytes: [UInt8]) -> String {
    String(decoding: encoded(label, bytes.span), as: UTF8.self)
  }

  /// Writes a PEM block with secret content.
  ///
  /// No copies of the content stay in memory.
  public static func encode(_ label: String, _ bytes: Secret) -> Secret {
    bytes.withBytes { Secret(wiping: encoded(label, $0)) }
  }

  private static func encoded(_ label: String, _ bytes: Span<UInt8>) -> [UInt8] {
    var base64 = Base64.letters(bytes)
    defer { wipe(&base64) }
    var text: [UInt8] = []
    // Reserves space for the whole text: an array that grows would leave copies of a private key in freed memory.
    text.reserveCapacity(base64.count * 65 / 64 + 2 * label.utf8.count + 40)
    text += "-----BEGIN \(label)-----\n".utf8
    for start in stride(from: 0, to: base64.count, by: 64) {
      text += base64[start..<min(start + 64, base64.count)]
      text.append(0x0A)
    }
    text += "-----END \(label)-----\n".utf8
    return text
  }

  /// The only block of one of these types, as a secret.
  ///
  /// Throws unless there is exactly one.
  static func secretBlock(of labels: [String], in text: Secret) throws(KeyError) -> Secret {
    var block = try text.withBytes { (text) throws(KeyError) in try oneBlock(of: labels, in: text) }
    return Secret(emptying: &block.bytes)
  }

  /// The only block of one of these types.
  ///
  /// Throws unless there is exactly one. Blocks of other types, such as curve parameters, are skipped.
  static func oneBlock(of labels: [String], in text: Span<UInt8>) throws(KeyError) -> Block {
    let blocks = try decode(text)
    if blocks.contains(where: { $0.label == "ENCRYPTED PRIVATE KEY" }) { throw .encrypted }
    let wanted = blocks.filter { labels.contains($0.label) }
    guard let block = wanted.first else {
      throw .malformed("expected a PEM text with \(labels.joined(separator: " or "))")
    }
    guard wanted.count == 1 else {
      throw .malformed("expected one key, the text has \(wanted.count)")
    }
    return block
  }

  private static func decode(_ text: Span<UInt8>) throws(KeyError) -> [Block] {
    guard text.count <= longest else {
      throw .malformed("a PEM text of more than \(longest) bytes")
    }
    var blocks: [Block] = []
    var label: String?
    var body: [UInt8] = []
    defer { wipe(&body) }
    var number = 0
    var at = 0
    while at < text.count {
      number += 1
      let line = nextLine(text, &at)
      if let begun = marked("BEGIN", text, line) {
        guard label == nil else { throw .malformed("line \(number) begins a block inside another") }
        label = begun
        wipe(&body)
        // An array that grows would leave copies of a private key in freed memory.
        body.reserveCapacity(text.count - at + 1)
      } else if let ended = marked("END", text, line) {
        guard ended == label else {
          throw .malformed("line \(number) ends a block that did not begin")
        }
        blocks.append(Block(label: ended, bytes: try bytes(body, number)))
        label = nil
      } else if label != nil {
        for place in line {
          guard text[place] != UInt8(ascii: ":") else {
            throw encryptedOrUnknown(text, line, number)
          }
          body.append(text[place])
        }
      }
    }
    guard label == nil else { throw .malformed("the last block has no end") }
    return blocks
  }

  private static func bytes(_ body: [UInt8], _ line: Int) throws(KeyError) -> [UInt8] {
    do throws(TextError) {
      return try Base64.decode(body.span)
    } catch {
      throw .malformed("the block that ends in line \(line) is not base64")
    }
  }

  /// The error for a line with a colon.
  ///
  /// Password-protected keys in the old format have the headers `Proc-Type` and `DEK-Info`.
  private static func encryptedOrUnknown(
    _ text: Span<UInt8>, _ line: Range<Int>, _ number: Int
  ) -> KeyError {
    starts(text, line, with: "Proc-Type") || starts(text, line, with: "DEK-Info")
      ? .encrypted : .malformed("line \(number) is not base64")
  }

  /// The range of the next line without its end and without white space around it.
  private static func nextLine(_ text: Span<UInt8>, _ at: inout Int) -> Range<Int> {
    var start = at
    while at < text.count, text[at] != 0x0A { at += 1 }
    var end = at
    at += 1
    while start < end, isSpace(text[start]) { start += 1 }
    while end > start, isSpace(text[end - 1]) { end -= 1 }
    return start..<end
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0D
  }

  /// The label of a line such as `-----BEGIN LABEL-----`; nil if the line is not one.
  private static func marked(_ word: String, _ text: Span<UInt8>, _ line: Range<Int>) -> String? {
    let head = "-----\(word) "
    guard line.count > head.utf8.count + 5, starts(text, line, with: head) else { return nil }
    let tail = (line.upperBound - 5)..<line.upperBound
    guard starts(text, tail, with: "-----") else { return nil }
    var label: [UInt8] = []
    for place in (line.lowerBound + head.utf8.count)..<tail.lowerBound {
      // RFC 7468 also allows a hyphen inside a label, but no label that is used here has one.
      guard (0x20...0x7E).contains(text[place]), text[place] != 0x2D else { return nil }
      label.append(text[place])
    }
    return String(decoding: label, as: UTF8.self)
  }

  private static func starts(_ text: Span<UInt8>, _ line: Range<Int>, with word: String) -> Bool {
    guard line.count >= word.utf8.count else { return false }
    var place = line.lowerBound
    for byte in word.utf8 {
      guard text[place] == byte else { return false }
      place += 1
    }
    return true
  }
}
