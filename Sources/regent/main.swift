// regent: reads the settings and runs the device agent. No logic.
// What the box shows and does is decided by DeviceAgent, how commands look by CommandKit.

import CommandKit
import DeviceAgent
import Glibc
import Platform

StandardStreams.fill()
// Before any thread exists: a thread that started without the mask would take the signal and end the program.
let heldSignals = HeldSignals(AgentProgram.heldSignals)
HeldSignals.ignoreBrokenPipes()
TaskThreads.shareOneHeap()
TaskThreads.takeOver()

AgentProgram.program(
  version: regentVersion, buildTime: regentReleased, processID: getpid(), held: heldSignals
).main()
