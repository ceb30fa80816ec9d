// regentctl: parses the command line and calls the admin socket. It contains no logic of the service.
// The Administration target defines the documents, CommandKit the form of the commands.
//
// Start with Nouns/, which has one file for each noun. Output/ has the connection to the service and the output.

import Administration
import CommandKit
import RegentPlatform

StandardStreams.fill()
HeldSignals.ignoreBrokenPipes()
Heap.shareAmongThreads()
TaskThreads.takeOver()
regentctl.main()
