import CommandKit
import Glibc
import RegentPlatform

/// What stands in a file that an option names: 64 KiB at most, and a byte more that says that there is more.
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
