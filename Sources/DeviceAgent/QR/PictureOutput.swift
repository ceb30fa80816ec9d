import CommandKit
import RegentPlatform
import QRCode

/// Draws the QR code as an image: in a file or in the framebuffer.
final class PictureOutput: Sendable {
  enum Target: Sendable, Equatable {
    case none
    case png(String)
    case svg(String)
    case framebuffer(path: String, FramebufferGeometry?)
  }

  private let target: Target
  private let onFailure: @Sendable (CommandError) -> Void
  private let state = Locked(PictureOutputState())

  private struct PictureOutputState: Sendable {
    var link: String?
    /// Whether the latest picture could not be drawn.
    var hasFailed = false
    var covered: Framebuffer.SavedArea?
  }

  /// Creates an output that has drawn nothing yet.
  ///
  /// - Parameters:
  ///   - target: the file or framebuffer.
  ///   - onFailure: called if the picture cannot be drawn. The sign-in continues without the picture.
  init(_ target: Target, onFailure: @escaping @Sendable (CommandError) -> Void = { _ in }) {
    self.target = target
    self.onFailure = onFailure
  }

  /// Draws a QR code of this link, or removes the picture if the link is nil.
  ///
  /// Does nothing if the link is the same.
  ///
  /// - Returns: false if the picture could not be drawn.
  @discardableResult
  func show(_ link: String?) -> Bool {
    let (isDrawn, failure) = state.withLock { state in
      guard state.link != link else { return (!state.hasFailed, CommandError?.none) }
      state.link = link
      let failure = update(&state)
      return (!state.hasFailed, failure)
    }
    if let failure { onFailure(failure) }
    return isDrawn
  }

  /// Redraws the picture, because another program may have drawn over it.
  func invalidate() {
    guard case .framebuffer = target else { return }
    // The background that was saved before drawing is kept. The pixels that cover the picture now belong to another
    // program.
    let failure = state.withLock { state in state.link == nil ? nil : update(&state) }
    if let failure { onFailure(failure) }
  }

  func remove() { show(nil) }

  private func update(_ state: inout PictureOutputState) -> CommandError? {
    do throws(CommandError) {
      // The last attempt to draw failed, so there is no picture to remove.
      if state.link == nil, state.hasFailed {
        state.hasFailed = false
        return nil
      }
      state.hasFailed = false
      switch target {
      case .none: break
      case .png(let path): try write(state.link, to: path) { $0.png() }
      case .svg(let path):
        try write(state.link, to: path) { Array($0.svg(title: state.link).utf8) }
      case .framebuffer(let path, let geometry):
        try draw(state.link, on: path, geometry, &state.covered)
      }
      return nil
    } catch {
      state.hasFailed = state.link != nil
      return error
    }
  }

  private func write(
    _ link: String?, to path: String, _ encode: (QRCode) -> [UInt8]
  ) throws(CommandError) {
    do throws(FileError) {
      guard let link else {
        // The image file is deleted, because an expired code would mislead the viewer.
        try DurableFile.remove(path)
        return
      }
      guard let code = try? QRCode(link) else { return }
      // All users can read the image file, because the launchers that show it run as other users.
      try DurableFile.write(encode(code), to: path, mode: 0o644)
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
  }

  private func draw(
    _ link: String?, on path: String, _ geometry: FramebufferGeometry?,
    _ covered: inout Framebuffer.SavedArea?
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
