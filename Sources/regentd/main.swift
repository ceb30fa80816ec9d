// regentd: reads the settings, builds the service and runs it, and does what an operator wants of a database: copies,
// moves, checks, restores it, changes its master key. Decides nothing about codes or tokens.
// What is served is decided by the service targets, how commands look by CommandKit.

import CommandKit
import RegentCryptography
import RegentPairing
import RegentPlatform

StandardStreams.fill()
// Before any thread exists: a thread that started without the mask would take the signal and end the program.
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
