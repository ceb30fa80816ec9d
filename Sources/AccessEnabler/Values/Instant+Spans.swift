public import RegentPairing

// A scoped import brings a type and its members, but not its operators: those of another module count only for files
// that import the whole of it. An app has `import AccessEnabler` alone, so it gets them from here.

extension Instant {
  /// The point so much later; sums that do not fit stay at the end of time.
  @_disfavoredOverload
  public static func + (moment: Self, span: Duration) -> Self { later(moment, by: span) }

  /// The point so much earlier; sums that do not fit stay at the beginning of time.
  @_disfavoredOverload
  public static func - (moment: Self, span: Duration) -> Self { earlier(moment, by: span) }
}

// Generic in the clock: the `+` and `-` in them are then RegentPairing's, not the two above.

private func later<Clock>(_ moment: Moment<Clock>, by span: Duration) -> Moment<Clock> { moment + span }

private func earlier<Clock>(_ moment: Moment<Clock>, by span: Duration) -> Moment<Clock> { moment - span }
