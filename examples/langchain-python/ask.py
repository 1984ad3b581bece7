"""LangChain with both formats: a whole answer, a stream, a tool call."""

import os

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

gateway = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
key = os.environ["GATEWAY_KEY"]

models = [
    ChatAnthropic(model="large-1", max_tokens=200, api_key=key, base_url=f"{gateway}/alpha"),
    ChatOpenAI(model="chat-1", max_tokens=200, api_key=key, base_url=f"{gateway}/beta/v1"),
]


@tool
def weather(place: str) -> str:
    """The weather of a place."""
    return f"Sunny in {place}."


for model in models:
    print("whole:", model.invoke("Good morning").text)

    print("stream: ", end="")
    for chunk in model.stream("Good evening"):
        print(chunk.text, end="", flush=True)
    print()

    question = HumanMessage("Use the weather tool.")
    with_tools = model.bind_tools([weather])
    asked = with_tools.invoke([question])
    results = [weather.invoke(call) for call in asked.tool_calls]
    print("tool:", with_tools.invoke([question, asked, *results]).text)
