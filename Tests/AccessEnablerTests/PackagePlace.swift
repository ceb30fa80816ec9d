import TestSupport

/// The folder of this package's sources; the helper counts folders up from the file that asks.
let package = packageFolder()
