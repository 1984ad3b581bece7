"""The OpenAI Agents SDK with responses, then with chat completions."""

import asyncio
import os

from agents import Agent, ModelSettings, Runner, function_tool, set_default_openai_api
from agents import set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI

gateway = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
client = AsyncOpenAI(base_url=f"{gateway}/beta/v1", api_key=os.environ["GATEWAY_KEY"])
set_default_openai_client(client, use_for_tracing=False)
set_tracing_disabled(True)


@function_tool
def weather(place: str) -> str:
    """The weather of a place."""
    return f"Sunny in {place}."


async def ask():
    settings = ModelSettings(max_tokens=200)
    agent = Agent(name="Guide", model="chat-1", model_settings=settings, tools=[weather])

    print("whole:", (await Runner.run(agent, "Good morning")).final_output)

    print("stream: ", end="")
    result = Runner.run_streamed(agent, "Good evening")
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            print(event.data.delta, end="", flush=True)
    print()

    answer = await Runner.run(agent, "Use the weather tool.")
    print("tool:", answer.final_output)
    return agent, answer


async def main():
    agent, answer = await ask()
    earlier = answer.last_response_id
    continued = await Runner.run(agent, "Good night", previous_response_id=earlier)
    print("continued:", continued.final_output)

    set_default_openai_api("chat_completions")
    await ask()


asyncio.run(main())
