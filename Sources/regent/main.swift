// regent: reads the settings and runs the device agent. No logic.
// What the box shows and does is decided by DeviceAgent, how commands look by CommandKit.

import CommandKit
import DeviceAgent
import Glibc
import RegentPairing
import RegentPlatform

// Before anything else, because until then USR1, which asks for a new code, ends the program; and before any thread
// exists: one that started without the mask would take the signal.
let heldSignals = HeldSignals(AgentProgram.heldSignals)
StandardStreams.fill()
// Before a secret is read: every command has the box's secret or its tokens in memory.
try ProcessHardening.forbidDumps()
HeldSignals.ignoreBrokenPipes()
TaskThreads.shareOneHeap()
TaskThreads.takeOver()

AgentProgram.program(
  version: regentVersion, buildTime: regentReleased, processID: getpid(), held: heldSignals
).main()
