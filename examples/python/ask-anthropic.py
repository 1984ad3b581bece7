"""The vendor's SDK for the messages format: a whole answer, a stream, a tool call."""

import os

import anthropic

gateway = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
client = anthropic.Anthropic(base_url=f"{gateway}/alpha", api_key=os.environ["GATEWAY_KEY"])


def ask(content):
    messages = [{"role": "user", "content": content}]
    return {"model": "large-1", "max_tokens": 200, "messages": messages}


message = client.messages.create(**ask("Good morning"))
print("whole:", message.content[0].text)

with client.messages.stream(**ask("Good evening")) as stream:
    print("stream: ", end="")
    for text in stream.text_stream:
        print(text, end="", flush=True)
    usage = stream.get_final_message().usage
print(f"\nusage: {usage.input_tokens} tokens in, {usage.output_tokens} out")


@anthropic.beta_tool
def weather(place: str) -> str:
    """The weather of a place."""
    return f"Sunny in {place}."


runner = client.beta.messages.tool_runner(**ask("Use the weather tool."), tools=[weather])
print("tool:", runner.until_done().content[0].text)
