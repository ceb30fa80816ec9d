import TestSupport

/// The folder of this package's sources.
let package = packageFolder()
