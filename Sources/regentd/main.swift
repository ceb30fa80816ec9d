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
  summary: "the service that signs screens in with a phone",
  details: """
    A box without a keyboard shows a short code and a QR code; somebody opens it on a phone, signs in, and the box \
    is in. regentd is the service behind that: it keeps the codes, serves the pages for the phone and gives the box \
    its tokens. Nothing else has to be installed; everything is in one SQLite database.
    """,
  commands: [
    CommandOffer("serve", ServeCommand.command(heldSignals)), CommandOffer("check", CheckCommand.command),
    CommandOffer("backup", BackupCommand.command), CommandOffer("restore", RestoreCommand.command),
    CommandOffer("move", MoveCommand.command),
  ],
  exitCodes: ExitCode.standardMeanings + [
    (
      ExitCode(rawValue: 70),
      "writing failed in a way that leaves the outcome unknown; started again, the service reads it from the disk"
    )
  ],
  seeAlso: ["regentctl(8)", "regent(1)"],
  manualSection: 8, explain: explained
).main()
