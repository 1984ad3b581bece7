#!/bin/sh
# Asks both vendors through the gateway, at four endpoints, then reads the account's usage.
set -eu
gateway=${GATEWAY_URL:-http://127.0.0.1:8080}

echo '# messages'
curl --silent --show-error --fail-with-body "$gateway/alpha/v1/messages" \
  --header "authorization: Bearer $GATEWAY_KEY" \
  --header 'content-type: application/json' \
  --data '{"model":"large-1","max_tokens":100,"messages":[{"role":"user","content":"Good morning"}]}'

printf '\n# chat, streamed\n'
curl --silent --show-error --fail-with-body --no-buffer "$gateway/beta/v1/chat/completions" \
  --header "authorization: Bearer $GATEWAY_KEY" \
  --header 'content-type: application/json' \
  --data '{"model":"chat-1","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"Good morning"}]}'

echo '# response'
curl --silent --show-error --fail-with-body "$gateway/beta/v1/responses" \
  --header "authorization: Bearer $GATEWAY_KEY" \
  --header 'content-type: application/json' \
  --data '{"model":"chat-1","max_output_tokens":100,"input":"Good morning"}'

printf '\n# embeddings\n'
curl --silent --show-error --fail-with-body "$gateway/beta/v1/embeddings" \
  --header "authorization: Bearer $GATEWAY_KEY" \
  --header 'content-type: application/json' \
  --data '{"model":"embed-1","input":["soup","bread"],"encoding_format":"base64"}'

printf '\n# usage\n'
curl --silent --show-error --fail-with-body "$gateway/v1/usage?period=day" \
  --header "authorization: Bearer $GATEWAY_TOKEN"
echo
