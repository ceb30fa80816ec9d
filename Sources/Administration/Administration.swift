// Administration: the types of the admin interface, that is, the documents on the admin socket and the client that
// `regentctl` uses. It defines names, document formats and paths. PairingService decides what a call does, and
// regentctl how it is displayed.
//
// The interface is JSON over HTTP on a Unix socket. Members are camelCase. Times are epoch milliseconds and durations
// milliseconds (`…Ms`), both numbers. A list is an array. An error is {"error":{"code","message","hint"}}. PUT adds a
// record (an equal one changes nothing), PATCH changes the given members (null removes one), DELETE removes, POST
// performs an action. Names chosen by devices are sent unchanged: the program that displays them must make them
// harmless.
//
// Start with Client/AdminPaths.swift for the calls, Records/ for what operators write, and Documents/ for the rest.
