import PairingService

extension ServiceLog {
  /// Writes the service's events to the program's log.
  init(_ log: Log) {
    self.init { level, event, fields in
      switch level {
      case .error: log.line(.error, event, fields)
      case .warning: log.line(.warning, event, fields)
      case .info: log.line(.info, event, fields)
      }
    }
  }
}
