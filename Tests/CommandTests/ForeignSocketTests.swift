import Glibc
import TestSupport
import Testing

/// A socket of another user in the place where regentctl looks.
@Suite struct `An admin socket of another user` {
  @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
  func `root's regentctl sends nothing to it unless its path was given`() throws {
    try withService { service in
      let shell = Operator(folder: service.folder)
      try shell.get("regentctl requestor add acme")
      // After `su`, the variables of root's shell may still name a folder of the other user.
      let socket = "\(shell.state)/admin.sock"
      #expect(unsafe chown(socket, 65_534, 65_534) == 0)
      let finished = try shell.type("regentctl requestor list")
      #expect(finished.status != 0 && !finished.outputText.contains("acme"), "\(finished.outputText)")
      #expect(try shell.get("regentctl --socket '\(socket)' requestor list").contains("acme"))
    }
  }
}
