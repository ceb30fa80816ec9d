public import RegentPairing

// Apps get `Instant` by a scoped import (see OneImport.swift), which does not bring the operators of its module. The
// two operators here let an app that only has `import AccessEnabler` add and subtract durations.

extension Instant {
  /// The time that is later by `span`, or the last possible time on overflow.
  @_disfavoredOverload
  public static func + (moment: Self, span: Duration) -> Self { later(moment, by: span) }

  /// The time that is earlier by `span`, or the first possible time on overflow.
  @_disfavoredOverload
  public static func - (moment: Self, span: Duration) -> Self { earlier(moment, by: span) }
}

// Generic in the clock, so that `+` and `-` here are those of RegentPairing. If the parameter were an `Instant`, they
// would be the two operators above, and the call would recurse.

private func later<Clock>(_ moment: Moment<Clock>, by span: Duration) -> Moment<Clock> { moment + span }

private func earlier<Clock>(_ moment: Moment<Clock>, by span: Duration) -> Moment<Clock> { moment - span }
