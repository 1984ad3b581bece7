"""LiteLLM as a library, with messages, chat completions, responses and embeddings."""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

litellm.suppress_debug_info = True
gateway = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
key = os.environ["GATEWAY_KEY"]

targets = [
    {"model": "anthropic/large-1", "api_base": f"{gateway}/alpha"},
    {"model": "openai/chat-1", "api_base": f"{gateway}/beta/v1"},
]
place = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
function = {"name": "weather", "description": "The weather of a place.", "parameters": place}
tools = [{"type": "function", "function": function}]


def user(content):
    return {"role": "user", "content": content}


for target in targets:
    ask = {**target, "api_key": key, "max_tokens": 200}
    whole = litellm.completion(**ask, messages=[user("Good morning")])
    print("whole:", whole.choices[0].message.content)

    print("stream: ", end="")
    for chunk in litellm.completion(**ask, messages=[user("Good evening")], stream=True):
        print(chunk.choices[0].delta.content or "", end="", flush=True)
    print()

    messages = [user("Use the weather tool.")]
    asked = litellm.completion(**ask, messages=messages, tools=tools).choices[0].message
    messages.append(asked)
    for call in asked.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "Sunny."})
    answer = litellm.completion(**ask, messages=messages, tools=tools)
    print("tool:", answer.choices[0].message.content)

beta = {"api_key": key, "api_base": f"{gateway}/beta/v1"}
response = litellm.responses(
    **beta, model="openai/chat-1", input="Good night", max_output_tokens=200
)
print("response:", response.output[0].content[0].text)
embeddings = litellm.embedding(**beta, model="openai/embed-1", input=["soup", "bread"])
print("embeddings:", len(embeddings.data))
