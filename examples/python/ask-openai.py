"""The vendor's SDK for the chat format: chat completions, responses, embeddings."""

import json
import os

import openai

gateway = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
client = openai.OpenAI(base_url=f"{gateway}/beta/v1", api_key=os.environ["GATEWAY_KEY"])
chat = client.chat.completions


def user(content):
    return {"role": "user", "content": content}


completion = chat.create(model="chat-1", max_tokens=200, messages=[user("Good morning")])
print("whole:", completion.choices[0].message.content)

with chat.stream(model="chat-1", max_tokens=200, messages=[user("Good evening")]) as stream:
    print("stream: ", end="")
    for event in stream:
        if event.type == "content.delta":
            print(event.delta, end="", flush=True)
print()

place = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
function = {"name": "weather", "description": "The weather of a place.", "parameters": place}
tools = [{"type": "function", "function": function}]
messages = [user("Use the weather tool.")]
asked = chat.create(model="chat-1", max_tokens=200, messages=messages, tools=tools)
messages.append(asked.choices[0].message)
for call in asked.choices[0].message.tool_calls:
    arguments = json.loads(call.function.arguments)
    result = f"Sunny in {arguments['place']}."
    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
answer = chat.create(model="chat-1", max_tokens=200, messages=messages, tools=tools)
print("tool:", answer.choices[0].message.content)

settings = {"model": "chat-1", "max_output_tokens": 200}
response = client.responses.create(**settings, input="Good night")
print("response:", response.output_text)
continued = {"input": "Sleep well", "previous_response_id": response.id}
with client.responses.stream(**settings, **continued) as stream:
    print("continued: ", end="")
    for event in stream:
        if event.type == "response.output_text.delta":
            print(event.delta, end="", flush=True)
print()

embeddings = client.embeddings.create(model="embed-1", input=["soup", "bread"])
print("embeddings:", len(embeddings.data))
