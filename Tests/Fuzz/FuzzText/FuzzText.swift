// FuzzText: accepted base64, base64url, hex and password hashes have exactly one spelling, and changing one variable of
// a settings file keeps everything else in it.

import FuzzSupport
import PasswordHashing
import RegentEncodings
import RegentPlatform

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: unsafe bytes(start, count), as: UTF8.self)
  if let bytes = try? Base64.decode(text) {
    promise("base64 has one spelling", same(Base64.encode(bytes), text), text)
    promise("lenient base64 decodes to the same bytes", (try? Base64.decodeLeniently(text)) == bytes, text)
  }
  if let bytes = try? Base64URL.decode(text) {
    promise("base64url has one spelling", same(Base64URL.encode(bytes), text), text)
    promise("lenient base64 decodes to the same bytes", (try? Base64.decodeLeniently(text)) == bytes, text)
  }
  if let bytes = try? Base64.decodeLeniently(text) {
    promise("lenient base64 decodes to at most three quarters of the length", bytes.count <= text.utf8.count * 3 / 4)
  }
  if let bytes = try? Hex.decode(text) {
    promise("hex has one spelling", same(Hex.encode(bytes), text), text)
  }
  if let bytes = try? Hex.decodeEitherCase(text) {
    promise("hex in either case has one spelling apart from case", same(Hex.encode(bytes), text.lowercased()), text)
  }
  if let hash = try? PasswordHash(reading: text) {
    promise("a password hash has one spelling", same(hash.text, text), text)
    promise("the work of a stored hash is limited", (0...PasswordForm.mostWork).contains(hash.form.work), text)
  }
  if let hash = try? PasswordHash(importing: text) {
    // The store must be able to read an accepted hash again, at the same cost.
    let stored = try? PasswordHash(reading: hash.text)
    promise("an imported hash is read again", stored.map { same($0.text, hash.text) } == true, text)
    promise("an imported hash keeps its form", stored?.form == hash.form, text)
    promise("the work of an imported hash is limited", (0...PasswordForm.mostWork).contains(hash.form.work), text)
    promise("an imported hash is short", hash.text.utf8.count <= 256, text)
  }
  keepSettings(unsafe bytes(start, count))
  return 0
}

/// A variable that is set is found when the file is read again; every other variable keeps its value.
private func keepSettings(_ content: [UInt8]) {
  let before = EnvironmentFile(content)
  promise("an unchanged settings file is kept", before.bytes.starts(with: content))
  promise("an unchanged settings file gains only the end of its last line", before.bytes.count <= content.count + 2)
  // Names that inputs are likely to contain: A is set, B is removed, the others must not change.
  let names = ["A", "B", "C", "REGENT_LISTEN"]
  let value = "one \"two\" \\ $three `four` 'five'"
  var after = before
  after.set("A", value)
  after.set("B", nil)
  for file in [after, EnvironmentFile(after.bytes)] {
    promise("a variable that was set is read", file.value(of: "A").map { same($0, value) } == true, file.text)
    promise("a variable that was removed is not read", file.value(of: "B") == nil, file.text)
    for name in names.dropFirst(2) {
      promise("other variables keep their values", file.value(of: name) == before.value(of: name), file.text)
    }
  }
  var again = EnvironmentFile(after.bytes)
  again.set("A", value)
  again.set("B", nil)
  promise(
    "making the same changes again changes nothing", again.bytes == after.bytes && again.changes.isEmpty, after.text)
}

private func same(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
