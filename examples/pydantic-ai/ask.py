"""Pydantic AI with messages, chat completions, responses and embeddings."""

import asyncio
import os

from pydantic_ai import Agent, Embedder
from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

gateway = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
key = os.environ["GATEWAY_KEY"]
alpha = AnthropicProvider(base_url=f"{gateway}/alpha", api_key=key)
beta = OpenAIProvider(base_url=f"{gateway}/beta/v1", api_key=key)

models = [
    AnthropicModel("large-1", provider=alpha),
    OpenAIChatModel("chat-1", provider=beta),
    OpenAIResponsesModel("chat-1", provider=beta),
]


async def main():
    for model in models:
        agent = Agent(model, model_settings={"max_tokens": 200})

        @agent.tool_plain
        def weather(place: str) -> str:
            """The weather of a place."""
            return f"Sunny in {place}."

        print("whole:", (await agent.run("Good morning")).output)

        print("stream: ", end="")
        async with agent.run_stream("Good evening") as result:
            async for piece in result.stream_text(delta=True):
                print(piece, end="", flush=True)
        print()

        print("tool:", (await agent.run("Use the weather tool.")).output)

    embedder = Embedder(OpenAIEmbeddingModel("embed-1", provider=beta))
    result = await embedder.embed_documents(["soup", "bread"])
    print("embeddings:", len(result.embeddings))


asyncio.run(main())
