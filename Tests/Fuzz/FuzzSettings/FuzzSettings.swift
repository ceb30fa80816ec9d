// FuzzSettings: `agent.conf` of a box. A setting that `regent setup` writes is read again, every other setting keeps
// its value, and the file does not grow when the same setting is written again.

import CommandKit
import FuzzSupport
import RegentPlatform

@testable import DeviceAgent

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  let text = String(decoding: input, as: UTF8.self)
  if let rule = try? AllowRule(parsing: text, in: "fuzz") {
    promise("a rule allows an action", !rule.actions.isEmpty, text)
    promise(
      "a rule allows names only where an action has them",
      rule.actions.allSatisfy { $0.key.takesNames || $0.value.allSatisfy { $0 == "*" } }, text)
  }
  if let rule = try? AppRule(parsing: text, in: "fuzz") {
    promise("an app has a requestor", !rule.requestors.isEmpty, text)
    promise(
      "an app is limited to a user, a group or a socket", rule.user != nil || rule.group != nil || rule.socket != nil,
      text)
  }
  guard String(validating: input, as: UTF8.self) != nil, let before = try? AgentConf(text: text, path: "fuzz") else {
    return 0
  }
  var changed = AgentConfText(text)
  changed.set("name", "Den")
  changed.set("requestor", nil)
  guard let after = try? AgentConf(text: changed.text, path: "fuzz") else {
    broken("a changed file can be read", changed.text)
  }
  promise("a setting that was set is read", after.values["name"] == ["Den"], changed.text)
  promise("a setting that was removed is not read", after.values["requestor"] == nil, changed.text)
  for name in AgentConf.names where name != "name" && name != "requestor" {
    promise("other settings keep their values", after.values[name] == before.values[name], changed.text)
  }
  var again = AgentConfText(changed.text)
  again.set("name", "Den")
  again.set("requestor", nil)
  promise("the same changes change nothing", again.bytes == changed.bytes && again.difference.isEmpty, changed.text)
  return 0
}
