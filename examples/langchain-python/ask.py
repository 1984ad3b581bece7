"""LangChain with messages, chat completions, responses and embeddings."""

import os

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

gateway = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
key = os.environ["GATEWAY_KEY"]
beta = {"api_key": key, "base_url": f"{gateway}/beta/v1"}

models = [
    ChatAnthropic(model="large-1", max_tokens=200, api_key=key, base_url=f"{gateway}/alpha"),
    ChatOpenAI(**beta, model="chat-1", max_tokens=200),
    ChatOpenAI(**beta, model="chat-1", max_tokens=200, use_responses_api=True),
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

embedder = OpenAIEmbeddings(**beta, model="embed-1", check_embedding_ctx_length=False)
print("embeddings:", len(embedder.embed_documents(["soup", "bread"])))
