"""Drives the vendors' Python SDKs for the tests: one JSON call per line in, one JSON report per line out.

It judges nothing; what a report must say is the business of the test that asked for it.
"""

import asyncio
import json
import sys

import anthropic
import openai
import pydantic


def options(call, base_url):
    """What a client is made with; the SDK's own number of retries unless the call says another."""
    made = {
        "base_url": base_url,
        "api_key": call["secret"],
        "default_headers": call["headers"],
    }
    if "max_retries" in call:
        made["max_retries"] = call["max_retries"]
    return made


def failure(error):
    return {
        "error": {
            "class": type(error).__name__,
            "is_sdk_error": isinstance(error, (anthropic.APIError, openai.APIError)),
            "status": getattr(error, "status_code", None),
            "message": str(error),
            "code": getattr(error, "code", None),
            "body": getattr(error, "body", None),
            "request_id": getattr(error, "request_id", None),
        }
    }


# --- messages -------------------------------------------------------------------------------------


def message_report(message, **more):
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "kinds": [block.type for block in message.content],
        "stop_reason": message.stop_reason,
        "usage": message.usage.model_dump(),
        "request_id": getattr(message, "_request_id", None),
        **more,
    }


def messages_whole(client, call):
    return message_report(client.messages.create(**call["body"]))


def messages_raw(client, call):
    types, text = [], ""
    with client.messages.create(stream=True, **call["body"]) as stream:
        for event in stream:
            types.append(event.type)
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                text += event.delta.text
    return {"types": types, "text": text}


def messages_helper(client, call):
    with client.messages.stream(**call["body"]) as stream:
        pieces = list(stream.text_stream)
        return message_report(stream.get_final_message(), pieces="".join(pieces))


def messages_leave(client, call):
    with client.messages.create(stream=True, **call["body"]) as stream:
        for event in stream:
            if event.type == "content_block_delta":
                return {"left_at": event.type}
    return {}


def messages_tools(client, call):
    body = call["body"]
    asked = client.messages.create(**body)
    use = next(block for block in asked.content if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "Sunny."}
    history = [
        *body["messages"],
        {"role": "assistant", "content": asked.content},
        {"role": "user", "content": [result]},
    ]
    answered = client.messages.create(**{**body, "messages": history})
    return message_report(answered, tool=use.name, input=use.input)


def messages_free(client, call):
    body = {name: call["body"][name] for name in ("model", "messages")}
    return {
        "ids": [model.id for model in client.models.list()],
        "input_tokens": client.messages.count_tokens(**body).input_tokens,
    }


async def messages_async_whole(client, call):
    return message_report(await client.messages.create(**call["body"]))


async def messages_async_helper(client, call):
    async with client.messages.stream(**call["body"]) as stream:
        pieces = [piece async for piece in stream.text_stream]
        return message_report(await stream.get_final_message(), pieces="".join(pieces))


# --- chat -----------------------------------------------------------------------------------------


def completion_report(completion, **more):
    choice = completion.choices[0]
    return {
        "text": choice.message.content,
        "refusal": choice.message.refusal,
        "stop_reason": choice.finish_reason,
        "usage": None if completion.usage is None else completion.usage.model_dump(),
        "request_id": getattr(completion, "_request_id", None),
        **more,
    }


def chat_whole(client, call):
    return completion_report(client.chat.completions.create(**call["body"]))


def chat_raw(client, call):
    text, choice_counts = "", []
    with client.chat.completions.create(stream=True, **call["body"]) as stream:
        for chunk in stream:
            choice_counts.append(len(chunk.choices))
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    return {"text": text, "choice_counts": choice_counts}


def chat_helper(client, call):
    with client.chat.completions.stream(**call["body"]) as stream:
        pieces = [event.delta for event in stream if event.type == "content.delta"]
        return completion_report(stream.get_final_completion(), pieces="".join(pieces))


def chat_responses_raw(client, call):
    types, text = [], ""
    with client.responses.create(stream=True, **call["body"]) as stream:
        for event in stream:
            types.append(event.type)
            text += event.delta if event.type == "response.output_text.delta" else ""
    return {"types": types, "text": text}


def chat_responses_helper(client, call):
    with client.responses.stream(**call["body"]) as stream:
        pieces = [event.delta for event in stream if event.type == "response.output_text.delta"]
        response = stream.get_final_response()
        return {"text": response.output_text, "pieces": "".join(pieces)}


def chat_leave(client, call):
    with client.chat.completions.create(stream=True, **call["body"]) as stream:
        for chunk in stream:
            if chunk.choices[0].delta.content:
                return {"left_at": "content"}
    return {}


def chat_tools(client, call):
    body = call["body"]
    asked = client.chat.completions.create(**body).choices[0].message
    use = asked.tool_calls[0]
    result = {"role": "tool", "tool_call_id": use.id, "content": "Sunny."}
    history = [*body["messages"], asked, result]
    answered = client.chat.completions.create(**{**body, "messages": history})
    arguments = json.loads(use.function.arguments)
    return completion_report(answered, tool=use.function.name, input=arguments)


def chat_free(client, call):
    return {"ids": [model.id for model in client.models.list()]}


async def chat_async_whole(client, call):
    return completion_report(await client.chat.completions.create(**call["body"]))


async def chat_async_helper(client, call):
    async with client.chat.completions.stream(**call["body"]) as stream:
        pieces = [event.delta async for event in stream if event.type == "content.delta"]
        completion = await stream.get_final_completion()
        return completion_report(completion, pieces="".join(pieces))


# --- responses and embeddings ----------------------------------------------------------------------


class Recipe(pydantic.BaseModel):
    title: str
    minutes: int


def responses_parse(client, call):
    response = client.responses.parse(text_format=Recipe, **call["body"])
    return {"input": response.output_parsed.model_dump(), "request_id": response._request_id}


async def responses_async_helper(client, call):
    async with client.responses.stream(**call["body"]) as stream:
        events = [event async for event in stream]
        response = await stream.get_final_response()
    pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
    types = [event.type for event in events]
    usage = response.usage.model_dump()
    text = response.output_text
    return {"types": types, "pieces": "".join(pieces), "text": text, "usage": usage}


def responses_stored(client, call):
    """Continues a response, reads and deletes it, and looks for it again."""
    first = client.responses.create(**call["body"])
    following = client.responses.create(**call["body"], previous_response_id=first.id)
    items = client.responses.input_items.list(following.id)
    read = client.responses.retrieve(first.id)
    client.responses.delete(first.id)
    ids = [read.id, following.previous_response_id]
    kinds = [item.type for item in items]
    try:
        client.responses.retrieve(first.id)
    except openai.NotFoundError as error:
        return {**failure(error), "ids": ids, "kinds": kinds, "text": following.output_text}
    return {}


def responses_create(client, call):
    return {"text": client.responses.create(**call["body"]).output_text}


def embeddings_create(client, call):
    made = client.embeddings.create(**call["body"])
    sizes = [len(embedding.embedding) for embedding in made.data]
    return {"choice_counts": sizes, "usage": made.usage.model_dump()}


# --- the loop -------------------------------------------------------------------------------------

CLIENTS = {
    "messages": (anthropic.Anthropic, anthropic.AsyncAnthropic),
    "chat": (openai.OpenAI, openai.AsyncOpenAI),
    "responses": (openai.OpenAI, openai.AsyncOpenAI),
    "embeddings": (openai.OpenAI, openai.AsyncOpenAI),
}


def perform(call):
    action = globals()[f"{call['format']}_{call['action']}"]
    sync_client, async_client = CLIENTS[call["format"]]
    made = options(call, call["base_url"])
    try:
        if not asyncio.iscoroutinefunction(action):
            with sync_client(**made) as client:
                return action(client, call)

        async def run():
            async with async_client(**made) as client:
                return await action(client, call)

        return asyncio.run(run())
    except Exception as error:  # Whatever is raised is what the test wants to see.
        return failure(error)


def main():
    for line in sys.stdin:
        print(json.dumps(perform(json.loads(line))), flush=True)


main()
