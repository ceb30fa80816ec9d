import CommandKit
import Glibc
import RegentPlatform

/// Reads up to 64 KiB of a file named by an option, and one byte more, which shows that the file is larger.
func readSmallFile(_ path: String, for option: String) throws -> [UInt8] {
  let file: FileDescriptor
  do throws(SystemError) {
    file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    throw CommandError("\(option): \(error.description)", hint: "check the path: \(path)")
  }
  var bytes: [UInt8] = []
  while bytes.count <= 65_536 {
    let part = try file.read(atMost: 65_537, from: path)
    if part.isEmpty { break }
    bytes += part
  }
  return bytes
}
