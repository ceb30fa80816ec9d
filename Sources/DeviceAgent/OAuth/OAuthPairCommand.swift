import CommandKit
import RegentPlatform

/// `regent oauth pair NAME`: signs in with the same screen and events as `regent pair`.
enum OAuthPairCommand {
  private static let unattended = Input.flag(
    "unattended", "nobody presses keys: an expired code is replaced, at most 12 an hour")
  private static let force = Input.flag("force", "sign in anew even if that is done")
  private static let product = Input.option(
    "product", .text("NAME"), default: PairView.usualProduct, "the name on the screen")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "pair", "sign in at a server: show its code and wait for the phone",
      details: """
        What "regent pair" says of screen, lines, events, signals and the daemon holds here, too; a user other than the \
        daemon's needs a line like allow = user:kodi pair oauth=NAME in agent.conf. An address is shown only when it has \
        https or is this machine's own. A code that was shown when the power went goes on after it.
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
