/**
 * Open WebUI's own server, which sends the requests of its pages. It is asked as its page asks it: for the
 * models, then for an answer. Its parts for machine learning are not installed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandClock, sleep } from '../../../../src/base/clock.ts'
import { readPage, codeBlock } from '../page.ts'
import type { Client, Ran } from './client.ts'
import type { Stage } from './scenes.ts'

type Json = Readonly<Record<string, unknown>>

/** `connection`: what the administrator chooses as the type of the connection. */
export function openWebUi(folder: string, connection: 'chat_completions' | 'responses'): Client {
  const configs = JSON.stringify({ 0: { api_type: connection } })
  const shown = codeBlock(readPage('open-webui'), 'sh')
  return {
    command: `export OPENAI_API_CONFIGS='${configs}'\n${shown}`,
    run: (stage) => runServer(join(folder, 'bin', 'open-webui'), configs, stage),
  }
}

async function runServer(program: string, configs: string, stage: Stage): Promise<Ran> {
  const home = await mkdtemp(join(tmpdir(), 'turnpike-webui-'))
  const port = await freePort()
  const server = spawn(program, ['serve', '--host', '127.0.0.1', '--port', String(port)], {
    cwd: home,
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      DATA_DIR: home,
      WEBUI_SECRET_KEY: 'secret',
      WEBUI_AUTH: 'false',
      USE_SLIM_DOCKER: 'true',
      OFFLINE_MODE: 'true',
      ENABLE_OLLAMA_API: 'false',
      OPENAI_API_BASE_URL: `${stage.origin}/beta/v1`,
      OPENAI_API_KEY: stage.key,
      OPENAI_API_CONFIGS: configs,
    },
  })
  const closed = once(server, 'close')
  try {
    return await converse(`http://127.0.0.1:${port}`, stage)
  } finally {
    server.kill('SIGKILL')
    await closed
    await rm(home, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a place.',
    parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
}

async function converse(url: string, stage: Stage): Promise<Ran> {
  await untilReady(url)
  const { token } = (await post(url, '', '/api/v1/auths/signin', { email: '', password: '' })).json
  const secret = String(token)
  const lines = await listModels(url, secret, stage)
  const usesTools = stage.scene === 'an answer with tools'
  const content = usesTools ? 'Use the weather tool.' : 'Say good morning.'
  const messages: object[] = [{ role: 'user', content }]
  const ask = (): Promise<Answer> =>
    post(url, secret, '/api/chat/completions', {
      model: 'chat-1',
      stream: true,
      messages,
      ...(usesTools ? { tools: [weather] } : {}),
    })
  let answer = await ask()
  const call = readStream(answer.text).call
  if (call !== undefined) {
    const { id, name, input } = call
    lines.push(`call: ${name} ${input}`)
    const made = { id, type: 'function', function: { name, arguments: input } }
    messages.push({ role: 'assistant', content: '', tool_calls: [made] })
    messages.push({ role: 'tool', tool_call_id: id, content: 'Sunny.' })
    answer = await ask()
  }
  const isGood = answer.status === 200 && answer.text.includes('data:')
  lines.push(`answer: ${isGood ? readStream(answer.text).text : readError(answer.text)}`)
  return { code: isGood ? 0 : 1, stdout: lines.join('\n'), stderr: '' }
}

/** Where the list is empty, an administrator tests the connection. */
async function listModels(url: string, secret: string, { origin, key }: Stage): Promise<string[]> {
  const models = await send(`${url}/api/models`, { headers: { authorization: `Bearer ${secret}` } })
  const ids = (models.json['data'] as readonly Json[]).map(({ id }) => String(id))
  const lines = [`models in the list: ${ids.join(', ') || 'none'}`]
  if (ids.length > 0) return lines
  const tried = { url: `${origin}/beta/v1`, key, config: {} }
  const verified = await post(url, secret, '/openai/verify', tried)
  return [...lines, `verify connection: ${readError(verified.text)}`]
}

/** It makes its database first, which takes a while. */
async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const answer = await fetch(`${url}/health`).catch(() => undefined)
    if (answer?.ok === true) return
    await sleep(commandClock, 1_000)
  }
  throw new Error('Open WebUI did not start.')
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly json: Json
}

function post(url: string, token: string, path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  return send(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function send(url: string, init: RequestInit): Promise<Answer> {
  const answer = await fetch(url, init)
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json') === true
  return { status: answer.status, text, json: isJson ? (JSON.parse(text) as Json) : {} }
}

/** What its page shows of an error: the detail, or the message of the vendor. */
function readError(text: string): string {
  const { detail, error } = JSON.parse(text) as {
    readonly detail?: unknown
    readonly error?: { readonly message?: string }
  }
  return typeof detail === 'string' ? detail : (error?.message ?? text)
}

interface Call {
  id: string
  name: string
  input: string
}

interface StreamEvent {
  readonly type?: string
  readonly delta?: string
  readonly item?: Readonly<Record<'type' | 'call_id' | 'name' | 'arguments', string>>
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null
      readonly tool_calls?: readonly {
        readonly id?: string
        readonly function?: { readonly name?: string; readonly arguments?: string }
      }[]
    }
  }[]
}

/** Puts the text and the call of a stream of either kind together, as its page does. */
function readStream(stream: string): { readonly text: string; readonly call: Call | undefined } {
  let text = ''
  let call: Call | undefined
  for (const [, data = ''] of stream.matchAll(/^data: (\{.*\})$/gm)) {
    const { type, delta, item, choices } = JSON.parse(data) as StreamEvent
    if (type === 'response.output_text.delta') text += delta ?? ''
    if (type === 'response.output_item.done' && item?.type === 'function_call')
      call = { id: item.call_id, name: item.name, input: item.arguments }
    const piece = choices?.[0]?.delta
    text += piece?.content ?? ''
    for (const part of piece?.tool_calls ?? []) {
      call ??= { id: part.id ?? '', name: part.function?.name ?? '', input: '' }
      call.input += part.function?.arguments ?? ''
    }
  }
  return { text, call }
}
