import CommandKit
import RegentPlatform
import QRCode

/// Keeps the QR code as a picture somewhere else than among the characters: a file, or the framebuffer.
final class PictureOutput: Sendable {
  enum Target: Sendable, Equatable {
    case none
    case png(String)
    case svg(String)
    case framebuffer(path: String, FramebufferGeometry?)
  }

  private let target: Target
  private let onFailure: @Sendable (CommandError) -> Void
  private let state = Locked(State())

  private struct State: Sendable {
    var link: String?
    /// The last picture could not be made.
    var hasFailed = false
    var covered: Framebuffer.Saved?
  }

  /// One that has drawn nothing yet.
  ///
  /// - Parameters:
  ///   - target: where the picture goes.
  ///   - onFailure: told when it cannot be made; the sign-in goes on without it.
  init(_ target: Target, onFailure: @escaping @Sendable (CommandError) -> Void = { _ in }) {
    self.target = target
    self.onFailure = onFailure
  }

  /// Shows this link, or nothing; the same again does nothing.
  ///
  /// - Returns: false when the picture of this link could not be made.
  @discardableResult
  func show(_ link: String?) -> Bool {
    state.withLock { state in
      if state.link != link {
        state.link = link
        update(&state)
      }
      return !state.hasFailed
    }
  }

  /// Draws again what something else may have covered.
  func invalidate() {
    guard case .framebuffer = target else { return }
    state.withLock { state in
      // Drawn over, not saved again: what may cover the picture now is not what stood there before it.
      if state.link != nil { update(&state) }
    }
  }

  /// Takes the picture away.
  func remove() { show(nil) }

  private func update(_ state: inout State) {
    do throws(CommandError) {
      // The drawing had failed: there is no picture to take away.
      if state.link == nil, state.hasFailed {
        state.hasFailed = false
        return
      }
      state.hasFailed = false
      switch target {
      case .none: return
      case .png(let path): try write(state.link, to: path) { $0.png() }
      case .svg(let path):
        try write(state.link, to: path) { Array($0.svg(title: state.link).utf8) }
      case .framebuffer(let path, let geometry):
        try draw(state.link, on: path, geometry, &state.covered)
      }
    } catch {
      state.hasFailed = state.link != nil
      onFailure(error)
    }
  }

  private func write(
    _ link: String?, to path: String, _ encode: (QRCode) -> [UInt8]
  ) throws(CommandError) {
    do throws(FileError) {
      guard let link else {
        // A picture of a code that is over would only mislead.
        try DurableFile.remove(path)
        return
      }
      guard let code = try? QRCode(link) else { return }
      // Launchers that show it run as other users.
      try DurableFile.write(encode(code), to: path, mode: 0o644)
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
  }

  private func draw(
    _ link: String?, on path: String, _ geometry: FramebufferGeometry?,
    _ covered: inout Framebuffer.Saved?
  ) throws(CommandError) {
    do throws(SystemError) {
      let screen = try Framebuffer(path: path, geometry: geometry)
      if let old = covered { try screen.restore(old) }
      covered = nil
      guard let link, let code = try? QRCode(link) else { return }
      let size = screen.geometry
      guard
        let picture = FramebufferPicture.picture(of: code, width: size.width, height: size.height)
      else { return }
      covered = try screen.drawCentred(width: picture.width, height: picture.height) { x, y in
        picture.isBlack(x, y)
      }
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
  }
}
