// SDKProbe: runs one test of the libraries that boxes link in a process of its own, and prints the result on standard
// output.

import Glibc

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "exit-computing": exitWhileComputing()
case "exit-fetching": try exitWhileFetching()
case "sign-in" where arguments.count == 6: try await signInOnce(Array(arguments.dropFirst()))
case "sign-ins" where arguments.count == 5: try await signInForEachLine(Array(arguments.dropFirst()))
case "browser" where arguments.count >= 7: try await useNamedBrowser(Array(arguments.dropFirst()))
case "start" where arguments.count == 7: try await startOnce(Array(arguments.dropFirst()))
case "app" where arguments.count == 7: try await operateApp(Array(arguments.dropFirst()))
case "account" where arguments.count == 7: try await startByAccount(Array(arguments.dropFirst()))
case "logins":
  // logins REGENTD COUNT
  guard arguments.count == 3, let count = arguments.last.flatMap({ Int($0) }) else { fallthrough }
  try await signInAgainAndAgain(arguments[2], count)
default:
  print("usage: SDKProbe exit-computing | exit-fetching | logins REGENTD COUNT")
  print("       SDKProbe account SERVICE REQUESTOR PUBLIC-KEY SECRET SOCKET COUNT")
  print("       SDKProbe app FOLDER SERVICE REQUESTOR PUBLIC-KEY SECRET SOCKET")
  print("       SDKProbe start FOLDER SERVICE REQUESTOR PUBLIC-KEY SECRET SOCKET")
  print("       SDKProbe sign-in FOLDER SERVICE REQUESTOR PUBLIC-KEY SECRET")
  print("       SDKProbe sign-ins SERVICE REQUESTOR PUBLIC-KEY SECRET")
  print("       SDKProbe browser SERVICE REQUESTOR PUBLIC-KEY SECRET PROVIDER PROGRAM [ARGUMENT...]")
  exit(2)
}
