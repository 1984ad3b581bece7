"""Asks both vendors through the gateway: one whole answer, one stream."""

import os

import anthropic
import openai

gateway = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
key = os.environ["GATEWAY_KEY"]
messages = [{"role": "user", "content": "Good morning"}]

client = anthropic.Anthropic(base_url=f"{gateway}/alpha", api_key=key)
message = client.messages.create(model="large-1", max_tokens=100, messages=messages)
print(message.content[0].text)

client = openai.OpenAI(base_url=f"{gateway}/beta/v1", api_key=key)
stream = client.chat.completions.create(
    model="chat-1", max_tokens=100, messages=messages, stream=True
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="", flush=True)
print()
