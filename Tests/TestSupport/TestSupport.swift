// TestSupport: helpers that several test targets share, such as temporary folders, running programs and free ports.
// They throw errors; only the test targets import `Testing`.

internal import Glibc

/// An error with a sentence that says what a helper could not do.
public struct TestSupportError: Error, Equatable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) {
    self.description = description
  }
}

/// The folder of the built products that the running tests belong to, for any scratch path and configuration.
public func productsFolder() throws -> String {
  // `swift test` passes the path of the test bundle, which lies in that folder.
  let arguments = CommandLine.arguments
  if let flag = arguments.firstIndex(of: "--test-bundle-path"), flag + 1 < arguments.count {
    return folder(of: arguments[flag + 1])
  }
  if let bundle = arguments.first(where: { $0.hasSuffix(".xctest") }) {
    return folder(of: bundle)
  }
  throw TestSupportError("no test bundle among the arguments: \(arguments)")
}

/// The path of a program of this package, from the same build as the running tests.
public func builtProgram(_ name: String) throws -> String {
  let path = try productsFolder() + "/" + name
  guard unsafe access(path, X_OK) == 0 else {
    throw TestSupportError("\(path) is not built: make the test target depend on \(name)")
  }
  return path
}

/// The path of an installed program, or nil if no folder of PATH contains it.
public func installedProgram(_ name: String) -> String? {
  let path = environment("PATH") ?? "/usr/bin:/bin"
  let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"]
  return folders.map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
}

/// The folder of this package's sources.
public func packageFolder() -> String {
  // This file is Tests/TestSupport/TestSupport.swift.
  folder(of: folder(of: folder(of: #filePath)))
}

func folder(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return String(path[..<slash])
}

/// The value of an environment variable.
public func environment(_ name: String) -> String? {
  guard let value = unsafe getenv(name) else { return nil }
  return unsafe String(cString: value)
}

/// Whether `Tests/sanitize` runs the tests.
///
/// A program that loads a sanitized library must then itself be linked with the sanitizer's runtime.
public var isSanitized: Bool { sanitizer != nil }

/// The sanitizer that the tests run under, `thread` or `address`.
public var sanitizer: String? { environment("REGENT_SANITIZED") }

/// `libfaketime`, which gives a program another clock.
///
/// nil under ThreadSanitizer: it asks for the time before the library is ready, so that no program starts.
public let clockLibrary: String? = {
  if sanitizer == "thread" { return nil }
  #if arch(x86_64)
    let machine = "x86_64-linux-gnu"
  #else
    let machine = "aarch64-linux-gnu"
  #endif
  let path = "/usr/lib/\(machine)/faketime/libfaketimeMT.so.1"
  return unsafe access(path, R_OK) == 0 ? path : nil
}()
