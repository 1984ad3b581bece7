"""LlamaIndex with chat completions, responses and embeddings."""

import asyncio
import os

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai import OpenAIResponses
from llama_index.llms.openai_like import OpenAILike

gateway = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
key = os.environ["GATEWAY_KEY"]

beta = {"api_key": key, "api_base": f"{gateway}/beta/v1"}

llms = [
    OpenAILike(
        **beta,
        model="chat-1",
        max_tokens=200,
        context_window=128_000,
        is_chat_model=True,
        is_function_calling_model=True,
    ),
    OpenAIResponses(
        **beta, model="chat-1", max_output_tokens=200, context_window=128_000
    ),
]
embedder = OpenAILikeEmbedding(**beta, model_name="embed-1")


def weather(place: str) -> str:
    """The weather of a place."""
    return f"Sunny in {place}."


async def main():
    for llm in llms:
        print("whole:", llm.complete("Good morning").text)

        print("stream: ", end="")
        for piece in llm.stream_complete("Good evening"):
            print(piece.delta, end="", flush=True)
        print()

        agent = FunctionAgent(tools=[weather], llm=llm)
        print("tool:", await agent.run("Use the weather tool."))

    embeddings = embedder.get_text_embedding_batch(["soup", "bread"])
    print("embeddings:", len(embeddings))


asyncio.run(main())
