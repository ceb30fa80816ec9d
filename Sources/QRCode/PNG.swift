extension Bitmap {
  /// The picture as a PNG file with one bit for each pixel, greyscale and uncompressed, because a QR code is small.
  public func png() -> [UInt8] {
    var header = bigEndian(UInt32(width)) + bigEndian(UInt32(height))
    header += [1, 0, 0, 0, 0]  // one bit, greyscale, deflate, the usual filters, not interlaced
    return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
      + chunk("IHDR", header) + chunk("IDAT", zlib(filteredRows)) + chunk("IEND", [])
  }

  /// The rows of the picture, each after the filter-type byte 0 ("no filter").
  private var filteredRows: [UInt8] {
    var rows: [UInt8] = []
    rows.reserveCapacity((stride + 1) * height)
    for row in 0..<height {
      rows.append(0)
      rows += bytes[row * stride..<(row + 1) * stride]
    }
    return rows
  }
}

private func chunk(_ kind: String, _ data: [UInt8]) -> [UInt8] {
  let body = Array(kind.utf8) + data
  return bigEndian(UInt32(data.count)) + body + bigEndian(crc32(body))
}

/// Wraps data in the zlib format (RFC 1950) with stored, uncompressed blocks of at most 65,535 bytes (RFC 1951).
private func zlib(_ data: [UInt8]) -> [UInt8] {
  var stream: [UInt8] = [0x78, 0x01]
  var start = 0
  repeat {
    let end = min(start + 0xffff, data.count)
    let length = UInt16(end - start)
    stream.append(end == data.count ? 1 : 0)
    for value in [length, ~length] { stream += [UInt8(value & 0xff), UInt8(value >> 8)] }
    stream += data[start..<end]
    start = end
  } while start < data.count
  return stream + bigEndian(adler32(data))
}

private func adler32(_ data: [UInt8]) -> UInt32 {
  var low: UInt32 = 1
  var high: UInt32 = 0
  for byte in data {
    low = (low + UInt32(byte)) % 65_521
    high = (high + low) % 65_521
  }
  return high << 16 | low
}

private func crc32(_ data: [UInt8]) -> UInt32 {
  ~data.reduce(0xffff_ffff) { checksum, byte in
    crcTable[Int((checksum ^ UInt32(byte)) & 0xff)] ^ (checksum >> 8)
  }
}

private let crcTable: [UInt32] = (0..<256).map { index in
  (0..<8).reduce(UInt32(index)) { value, _ in
    value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1
  }
}

private func bigEndian(_ value: UInt32) -> [UInt8] {
  [24, 16, 8, 0].map { shift in UInt8(value >> UInt32(shift) & 0xff) }
}
