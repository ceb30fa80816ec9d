// FuzzText: whatever base64, base64url, hex and the password hash text accept, they would write themselves; and of a
// settings file nothing is lost, whatever it holds.

import FuzzSupport
import PasswordHashing
import RegentEncodings
import RegentPlatform

/// One input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: unsafe bytes(start, count), as: UTF8.self)
  if let bytes = try? Base64.decode(text) {
    promise("base64 has one spelling", same(Base64.encode(bytes), text), text)
    promise("lenient base64 agrees", (try? Base64.decodeLeniently(text)) == bytes, text)
  }
  if let bytes = try? Base64URL.decode(text) {
    promise("base64url has one spelling", same(Base64URL.encode(bytes), text), text)
    promise("lenient base64 agrees", (try? Base64.decodeLeniently(text)) == bytes, text)
  }
  if let bytes = try? Base64.decodeLeniently(text) {
    promise("lenient base64 invents nothing", bytes.count <= text.utf8.count * 3 / 4)
  }
  if let bytes = try? Hex.decode(text) {
    promise("hex has one spelling", same(Hex.encode(bytes), text), text)
  }
  if let bytes = try? Hex.decodeEitherCase(text) {
    promise("hex differs in case alone", same(Hex.encode(bytes), text.lowercased()), text)
  }
  if let hash = try? PasswordHash(reading: text) {
    promise("a password hash has one spelling", same(hash.text, text), text)
    promise("a stored hash is bounded", (0...PasswordForm.mostWork).contains(hash.form.work), text)
  }
  if let hash = try? PasswordHash(importing: text) {
    // What is taken is what the store can read again, and as cheap.
    let stored = try? PasswordHash(reading: hash.text)
    promise("an imported hash is read again", stored.map { same($0.text, hash.text) } == true, text)
    promise("and stays in its form", stored?.form == hash.form, text)
    promise("an imported hash is bounded", (0...PasswordForm.mostWork).contains(hash.form.work), text)
    promise("an imported hash is short", hash.text.utf8.count <= 256, text)
  }
  keepSettings(unsafe bytes(start, count))
  return 0
}

/// Whoever sets one variable finds it, in the file as it is read again; every other one says what it said.
private func keepSettings(_ content: [UInt8]) {
  let before = EnvironmentFile(content)
  promise("a settings file that nobody changes stays", before.bytes.starts(with: content))
  promise("but for the end of its last line", before.bytes.count <= content.count + 2)
  // Names that inputs are likely to have: one is set, one is taken away, the others are looked at.
  let names = ["A", "B", "C", "REGENT_LISTEN"]
  let value = "one \"two\" \\ $three `four` 'five'"
  var after = before
  after.set("A", value)
  after.set("B", nil)
  for file in [after, EnvironmentFile(after.bytes)] {
    promise("what is set is read", file.value(of: "A").map { same($0, value) } == true, file.text)
    promise("what is taken away is not", file.value(of: "B") == nil, file.text)
    for name in names.dropFirst(2) {
      promise("the rest says what it said", file.value(of: name) == before.value(of: name), file.text)
    }
  }
  var again = EnvironmentFile(after.bytes)
  again.set("A", value)
  again.set("B", nil)
  promise("the same again changes nothing", again.bytes == after.bytes && again.changes.isEmpty, after.text)
}

private func same(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
