import Testing

@Suite("From a registration code to a media token")
struct JourneyTests {}
