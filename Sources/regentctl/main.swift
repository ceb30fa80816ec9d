// regentctl: reads the command line and talks to the admin socket. No logic of the service.
// What travels is decided by Administration, how commands look by CommandKit.
//
// Start with Nouns/: one file for each noun. Output/ holds how the service is found and how its answers are shown.

import Administration
import CommandKit
import RegentPlatform

StandardStreams.fill()
HeldSignals.ignoreBrokenPipes()
TaskThreads.shareOneHeap()
TaskThreads.takeOver()
regentctl.main()
