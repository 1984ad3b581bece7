/**
 * What to set in a client so that it uses this gateway. The lines for programs are those of docs/clients,
 * which tests run with the real programs; the key is a placeholder, because this page never has one.
 */
import aider from '../../../docs/clients/aider.md?raw'
import claudeCode from '../../../docs/clients/claude-code.md?raw'
import cline from '../../../docs/clients/cline.md?raw'
import codex from '../../../docs/clients/codex.md?raw'
import continueCli from '../../../docs/clients/continue.md?raw'
import openWebui from '../../../docs/clients/open-webui.md?raw'
import opencode from '../../../docs/clients/opencode.md?raw'
import qwenCode from '../../../docs/clients/qwen-code.md?raw'
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

const curl = (path: string) => (place: Place) => [
  run(`export GATEWAY_KEY=${keyMark}
curl ${place.origin}/${place.vendor}/v1/${path} \\
  --header "authorization: Bearer $GATEWAY_KEY" \\
  --header 'content-type: application/json' \\
  --data '{"model":"${place.model}","max_tokens":100,"messages":[{"role":"user","content":"Good morning"}]}'`),
]

interface Sdk {
  readonly install: string
  /** The command that runs the file. */
  readonly runs: string
  readonly text: (place: Place) => string
}

const sdk =
  ({ install, runs, text }: Sdk) =>
  (place: Place) => [
    { title: t('account.parts.install'), text: install },
    { title: runs.replace(/.* /, ''), text: text(place) },
    { title: t('account.parts.run'), text: `GATEWAY_KEY=${keyMark} ${runs}` },
  ]

/** A page of docs/clients is about one program: its name, the file to write if any, and what to run. */
function program(id: string, page: string): Client {
  const [, name = id] = /^# (.+)$/m.exec(page) ?? []
  const [, file = ''] = /^Put this into `(.+?)`/m.exec(page) ?? []
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)\n```$/gms)]
  return {
    id,
    name,
    format: page.includes('/alpha') ? 'messages' : 'chat',
    parts: (place) =>
      blocks.map(([, kind, text = '']) => ({
        title: kind === 'sh' ? t('account.parts.terminal') : file,
        text: linesFor(place, text),
      })),
  }
}

/** Replaces the address and the models of the documents. */
function linesFor({ origin, vendor, model, smallModel }: Place, text: string): string {
  return (
    text
      .replaceAll(/http:\/\/127\.0\.0\.1:8080\/\w+/g, () => `${origin}/${vendor}`)
      .replaceAll(/\b(large|chat)-1\b/g, () => model)
      .replaceAll(/\b(small|chat-mini)-1\b/g, () => smallModel)
      // One model may be both.
      .replaceAll(/^(.+),\n\1$/gm, '$1')
  )
}

export const clients: readonly Client[] = [
  { id: 'curl-messages', name: 'curl, messages', format: 'messages', parts: curl('messages') },
  {
    id: 'curl-chat',
    name: 'curl, chat completions',
    format: 'chat',
    parts: curl('chat/completions'),
  },
  {
    id: 'anthropic-python',
    name: 'Anthropic SDK, Python',
    format: 'messages',
    parts: sdk({
      install: 'pip install anthropic',
      runs: 'python ask.py',
      text: ({ origin, vendor, model }) => `import os

import anthropic

client = anthropic.Anthropic(base_url="${origin}/${vendor}", api_key=os.environ["GATEWAY_KEY"])
message = client.messages.create(
    model="${model}",
    max_tokens=200,
    messages=[{"role": "user", "content": "Good morning"}],
)
print(message.content[0].text)`,
    }),
  },
  {
    id: 'anthropic-typescript',
    name: 'Anthropic SDK, TypeScript',
    format: 'messages',
    parts: sdk({
      install: 'npm install @anthropic-ai/sdk',
      runs: 'node ask.mts',
      text: ({ origin, vendor, model }) => `import Anthropic from '@anthropic-ai/sdk'

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
    }),
  },
  {
    id: 'openai-python',
    name: 'OpenAI SDK, Python',
    format: 'chat',
    parts: sdk({
      install: 'pip install openai',
      runs: 'python ask.py',
      text: ({ origin, vendor, model }) => `import os

import openai

client = openai.OpenAI(base_url="${origin}/${vendor}/v1", api_key=os.environ["GATEWAY_KEY"])
completion = client.chat.completions.create(
    model="${model}",
    max_tokens=200,
    messages=[{"role": "user", "content": "Good morning"}],
)
print(completion.choices[0].message.content)`,
    }),
  },
  {
    id: 'openai-typescript',
    name: 'OpenAI SDK, TypeScript',
    format: 'chat',
    parts: sdk({
      install: 'npm install openai',
      runs: 'node ask.mts',
      text: ({ origin, vendor, model }) => `import OpenAI from 'openai'

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
    }),
  },
  program('claude-code', claudeCode),
  program('codex', codex),
  program('opencode', opencode),
  program('cline', cline),
  program('continue', continueCli),
  program('qwen-code', qwenCode),
  program('aider', aider),
  program('open-webui', openWebui),
]
