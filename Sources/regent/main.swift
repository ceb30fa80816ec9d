// regent: reads the settings and starts the device agent. Has no logic of its own.
// DeviceAgent decides what the box shows and does. CommandKit formats the commands' output.

import CommandKit
import DeviceAgent
import Glibc
import RegentPairing
import RegentPlatform

// Blocks the signals first. Until then SIGUSR1, which asks for a new code, ends the program. No other thread may exist
// yet, because a thread that starts without the mask would receive the signal.
let heldSignals = HeldSignals(AgentProgram.heldSignals)
StandardStreams.fill()
// Before any secret is read: every command keeps the box's secret or its tokens in memory.
try ProcessHardening.forbidDumps()
HeldSignals.ignoreBrokenPipes()
Heap.shareAmongThreads()
TaskThreads.takeOver()

AgentProgram.program(
  version: regentVersion, buildTime: regentReleased, processID: getpid(), held: heldSignals
).main()
