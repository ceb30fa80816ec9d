#!/bin/sh
# Signs in at a server with OAuth's device grant and prints the token: pair.sh ISSUER CLIENT-ID. Needs curl and jq.
set -eu
found=$(curl -fsS "$1/.well-known/openid-configuration") client=$2
endpoint() { printf %s "$found" | jq -er ".$1_endpoint"; }
# What a server says is printed without control characters, which could move the cursor or change the terminal.
shown='def shown: tostring | gsub("\\p{C}"; "");'
# A shell calculates with a text as well and runs the commands in it, so of a server's numbers only whole ones are used.
whole='def whole: numbers | floor | select(. >= 1 and . <= 3600);'
code=$(curl -fsS --url "$(endpoint device_authorization)" -d "client_id=$client")
printf %s "$code" | jq -r "$shown"' "open \(.verification_uri_complete // .verification_uri | shown) and enter \(.user_code | shown)"' >&2
pause=$(printf %s "$code" | jq -r "$whole"' (.interval | whole) // 5')
# A service that holds a question until the viewer has answered is asked without a pause; others once in each interval.
wait=$(printf %s "$found" | jq -r "$whole"' (.token_endpoint_longest_wait | whole) // 0')
begun=0
while [ "$wait" -gt 0 ] && [ $(($(date +%s) - begun)) -gt 1 ] || sleep "$pause"; do
  begun=$(date +%s)
  said=$(curl -sS -H "Prefer: wait=$wait" --url "$(endpoint token)" -d "client_id=$client" \
    -d grant_type=urn:ietf:params:oauth:grant-type:device_code --data-urlencode "device_code=$(printf %s "$code" | jq -r .device_code)")
  case $(printf %s "$said" | jq -r '.error // "done"') in
    done) printf %s "$said" | jq -er "$shown .access_token | strings | shown"; exit ;;
    authorization_pending) ;;
    slow_down) pause=$((pause + 5)) ;;
    *) printf %s "$said" | jq -r "$shown .error_description // .error | shown" >&2; exit 1 ;;
  esac
done
