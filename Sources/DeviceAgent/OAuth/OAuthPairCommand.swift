import CommandKit
import RegentPlatform

/// `regent oauth pair NAME`: signs in with the same screen and events as `regent pair`.
enum OAuthPairCommand {
  private static let unattended = Input.flag(
    "unattended", "replace expired codes without a key press, at most 12 per hour")
  private static let force = Input.flag("force", "sign in again even if this box is signed in there")
  private static let product = Input.option(
    "product", .text("NAME"), default: PairView.usualProduct, "the product name on the screen")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "pair", "sign in at a server: show a code and wait for the phone",
      details: """
        Screen, lines, events and signals are the same as for "regent pair". With a daemon, users other than root \
        need a line such as allow = user:kodi pair oauth=NAME in agent.conf. The address is shown only if it has \
        https or is on this machine. After a power cut, the command continues with the code that was shown.
        """,
      inputs: [
        OAuthCommand.name, PictureOptions.file, PictureOptions.picture, unattended, force, product,
      ],
      sections: [InputSection("framebuffer", [PictureOptions.device, PictureOptions.geometry])],
      example: "regent oauth pair music"
    ) { call async throws in
      let order = PairOrder(isForced: call[force], oauth: call[OAuthCommand.name])
      let place = try await AgentSettings(call).besideDaemon(order)
      let settings = place.settings
      let set = try PairSetUp(call, settings, isUnattended: call[unattended], product: call[product])
      let link: any PairLink = try place.link ?? settings.link(order, buildTime: context.buildTime)
      let code = try await set.run(link, PairModel(mode: set.mode, product: call[product]), context.held)
      if code != .done { throw QuietExit(code) }
    }
    .withFailures { error in
      PairEvent.error(
        AgentFailure(code: error.code, message: error.message, hint: error.hint, trouble: .service)
      ).document
    }
  }
}
