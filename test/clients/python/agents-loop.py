"""An agent of the OpenAI Agents SDK that reads three places one after the other, with stored state.

It prints the places and the final answer as JSON. `CLIENT_HEADERS` has the headers of each request.
"""

import asyncio
import json
import os

from agents import Agent, ModelSettings, Runner, function_tool
from agents import set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI

client = AsyncOpenAI(
    base_url=os.environ["GATEWAY_URL"],
    api_key=os.environ["GATEWAY_KEY"],
    default_headers=json.loads(os.environ["CLIENT_HEADERS"]),
)
set_default_openai_client(client, use_for_tracing=False)
set_tracing_disabled(True)

places = []


@function_tool
def weather(place: str) -> str:
    """The weather of a place."""
    places.append(place)
    return f"Sunny in {place}."


async def main():
    settings = ModelSettings(max_tokens=200)
    agent = Agent(name="Guide", model="chat-1", model_settings=settings, tools=[weather])
    result = Runner.run_streamed(agent, "Three places", auto_previous_response_id=True)
    async for _ in result.stream_events():
        pass
    print(json.dumps({"places": places, "answer": result.final_output}))


asyncio.run(main())
