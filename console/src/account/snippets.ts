/**
 * What to set in a client so that it uses this gateway. The lines for programs are those of docs/clients,
 * which tests run with the real programs; the key is a placeholder, because this page never has one.
 */
import { t } from '../messages/t.ts'

interface Place {
  /** The address of the gateway, without a path. */
  readonly origin: string
  readonly vendor: string
  readonly model: string
  /** A cheaper model of the vendor, for small tasks. */
  readonly smallModel: string
}

interface Part {
  /** Where it belongs: a file, or what to do with it. */
  readonly title: string
  readonly text: string
}

export interface Client {
  /** Its word in the address of the page. */
  readonly id: string
  readonly name: string
  readonly format: 'messages' | 'chat'
  readonly parts: (place: Place) => readonly Part[]
}

/** The base address that clients of a format want. */
export function baseAddress(origin: string, vendor: string, format: string): string {
  return format === 'messages' ? `${origin}/${vendor}` : `${origin}/${vendor}/v1`
}

const keyMark = 'cr_…'

const run = (text: string): Part => ({ title: t('account.parts.terminal'), text })

export const clients: readonly Client[] = [
  {
    id: 'curl-messages',
    name: 'curl, messages',
    format: 'messages',
    parts: ({ origin, vendor, model }) => [
      run(`export GATEWAY_KEY=${keyMark}
curl ${origin}/${vendor}/v1/messages \\
  --header "authorization: Bearer $GATEWAY_KEY" \\
  --header 'content-type: application/json' \\
  --data '{"model":"${model}","max_tokens":100,"messages":[{"role":"user","content":"Good morning"}]}'`),
    ],
  },
  {
    id: 'curl-chat',
    name: 'curl, chat completions',
    format: 'chat',
    parts: ({ origin, vendor, model }) => [
      run(`export GATEWAY_KEY=${keyMark}
curl ${origin}/${vendor}/v1/chat/completions \\
  --header "authorization: Bearer $GATEWAY_KEY" \\
  --header 'content-type: application/json' \\
  --data '{"model":"${model}","max_tokens":100,"messages":[{"role":"user","content":"Good morning"}]}'`),
    ],
  },
  {
    id: 'anthropic-python',
    name: 'Anthropic SDK, Python',
    format: 'messages',
    parts: ({ origin, vendor, model }) => [
      { title: t('account.parts.install'), text: 'pip install anthropic' },
      {
        title: 'ask.py',
        text: `import os

import anthropic

client = anthropic.Anthropic(base_url="${origin}/${vendor}", api_key=os.environ["GATEWAY_KEY"])
message = client.messages.create(
    model="${model}",
    max_tokens=200,
    messages=[{"role": "user", "content": "Good morning"}],
)
print(message.content[0].text)`,
      },
      { title: t('account.parts.run'), text: `GATEWAY_KEY=${keyMark} python ask.py` },
    ],
  },
  {
    id: 'anthropic-typescript',
    name: 'Anthropic SDK, TypeScript',
    format: 'messages',
    parts: ({ origin, vendor, model }) => [
      { title: t('account.parts.install'), text: 'npm install @anthropic-ai/sdk' },
      {
        title: 'ask.mts',
        text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: '${origin}/${vendor}',
  apiKey: process.env['GATEWAY_KEY'],
})
const message = await client.messages.create({
  model: '${model}',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Good morning' }],
})
for (const block of message.content) if (block.type === 'text') console.log(block.text)`,
      },
      { title: t('account.parts.run'), text: `GATEWAY_KEY=${keyMark} node ask.mts` },
    ],
  },
  {
    id: 'openai-python',
    name: 'OpenAI SDK, Python',
    format: 'chat',
    parts: ({ origin, vendor, model }) => [
      { title: t('account.parts.install'), text: 'pip install openai' },
      {
        title: 'ask.py',
        text: `import os

import openai

client = openai.OpenAI(base_url="${origin}/${vendor}/v1", api_key=os.environ["GATEWAY_KEY"])
completion = client.chat.completions.create(
    model="${model}",
    max_tokens=200,
    messages=[{"role": "user", "content": "Good morning"}],
)
print(completion.choices[0].message.content)`,
      },
      { title: t('account.parts.run'), text: `GATEWAY_KEY=${keyMark} python ask.py` },
    ],
  },
  {
    id: 'openai-typescript',
    name: 'OpenAI SDK, TypeScript',
    format: 'chat',
    parts: ({ origin, vendor, model }) => [
      { title: t('account.parts.install'), text: 'npm install openai' },
      {
        title: 'ask.mts',
        text: `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${origin}/${vendor}/v1',
  apiKey: process.env['GATEWAY_KEY'],
})
const completion = await client.chat.completions.create({
  model: '${model}',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Good morning' }],
})
console.log(completion.choices[0]?.message.content)`,
      },
      { title: t('account.parts.run'), text: `GATEWAY_KEY=${keyMark} node ask.mts` },
    ],
  },
]
