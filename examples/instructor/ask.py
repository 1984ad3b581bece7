"""Instructor with messages, chat completions and responses: answers as objects."""

import os

import anthropic
import instructor
import openai
from pydantic import BaseModel

gateway = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
key = os.environ["GATEWAY_KEY"]
alpha = anthropic.Anthropic(base_url=f"{gateway}/alpha", api_key=key)
beta = openai.OpenAI(base_url=f"{gateway}/beta/v1", api_key=key)

clients = [
    (instructor.from_anthropic(alpha), "large-1"),
    (instructor.from_openai(beta), "chat-1"),
    (instructor.from_openai(beta, mode=instructor.Mode.RESPONSES_TOOLS), "chat-1"),
]


class Recipe(BaseModel):
    title: str
    minutes: int


for client, model in clients:
    messages = [{"role": "user", "content": "A recipe"}]
    ask = {"model": model, "max_tokens": 200, "messages": messages, "response_model": Recipe}
    print("whole:", client.create(**ask))
    *_, last = client.create_partial(**ask)
    print("stream:", last)
