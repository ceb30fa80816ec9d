/// Reads the text of the QR code in a PNG file with zbar, as a phone would.
public func decode(_ png: [UInt8]) throws -> String {
  try withTemporaryFolder { folder in
    try writeFile("\(folder)/code.png", png)
    let read = try run(
      "zbarimg",
      ["--quiet", "--raw", "--nodbus", "-S*.enable=0", "-Sqrcode.enable=1", "\(folder)/code.png"],
      environment: ["LC_ALL": "C.UTF-8"])
    guard read.status == 0 else {
      throw TestSupportError("zbarimg read nothing: \(read.status) \(read.errorText)")
    }
    // zbar adds a newline to each text.
    return String(read.outputText.dropLast())
  }
}
