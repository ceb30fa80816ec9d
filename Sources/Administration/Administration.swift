// Administration: the admin interface as types: what travels over the admin socket, and the client that `regentctl`
// uses. Owns names, shapes and paths. What a call does is decided by PairingService, how it looks by regentctl.
//
// The interface is JSON over HTTP on a Unix socket. Members are camelCase; times are epoch milliseconds and lengths of
// time milliseconds (`…Ms`), both numbers; a list is an array; an error is {"error":{"code","message","hint"}}.
// PUT adds a record (the same again changes nothing), PATCH changes the members it names (null takes one away),
// DELETE removes, POST acts. Names that devices chose travel as they are: whoever shows them makes them harmless.
//
// Start with Client/AdminPaths.swift for what can be asked, Records/ for what operators write, Documents/ for the rest.
