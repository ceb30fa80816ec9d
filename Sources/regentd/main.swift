// regentd: reads the settings and runs the service, and copies, moves, checks and restores its database and changes its
// master key. It decides nothing about codes or tokens.
// The service targets decide what is served, CommandKit how commands look.

import CommandKit
import RegentCryptography
import RegentPairing
import RegentPlatform

StandardStreams.fill()
// The signals are blocked before any thread exists. A thread without this signal mask would receive the signal and end
// the program.
let heldSignals = HeldSignals([.terminate, .interrupt, .hangUp])
HeldSignals.ignoreBrokenPipes()
Random.serveOpenSSL()
InstalledService.adopt(CommandLine.arguments)
TaskThreads.takeOver(threads: TaskThreads.oneForEachCore)

Program(
  name: "regentd", version: regentVersion,
  summary: "the service that signs TV screens in with a phone",
  details: """
    A box without a keyboard shows a short code and a QR code. The viewer opens it on a phone and signs in there; the \
    box is then signed in, too. regentd is the service behind this: it stores the codes, serves the phone's pages and \
    issues the tokens. It needs no other server: all data is in one SQLite database, or in PostgreSQL for several nodes.
    """,
  commands: [
    CommandOffer("serve", ServeCommand.command(heldSignals)), CommandOffer("check", CheckCommand.command),
    CommandOffer("backup", BackupCommand.command), CommandOffer("restore", RestoreCommand.command),
    CommandOffer("move", MoveCommand.command),
  ],
  exitCodes: ExitCode.standardMeanings + [
    (
      ExitCode(rawValue: 70),
      "a write to the database failed with an unknown outcome; the next start reads what was written"
    )
  ],
  seeAlso: ["regentctl(8)", "regent(1)"],
  manualSection: 8, explain: explained
).main()
