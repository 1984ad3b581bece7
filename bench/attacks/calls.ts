/**
 * Attacks by calls that are allowed: the holder of an account asks for statements, an operator sends files
 * and asks for reports, a vendor answers with megabytes. Each connection makes one call after the other.
 */
import { Agent, request } from 'node:http'
import { formatPaths, models } from '../exchanges.ts'
import { attackerAddress, type Attack, type Target } from './attack.ts'
import { bodyShapes, repeated } from './bodies.ts'

interface Call {
  readonly port: number
  readonly method?: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

type CallOf = (target: Target, index: number) => Call

/** Makes the calls again and again, `count` at a time. */
function repeatCalls(count: number, callOf: CallOf): Attack['start'] {
  return (target, onAnswer) => {
    const agent = new Agent({ keepAlive: true, localAddress: attackerAddress })
    let isStopped = false
    let index = 0
    const next = (): void => {
      if (isStopped) return
      const { body, ...call } = callOf(target, index++)
      const sent = request({ method: 'GET', ...call, host: '127.0.0.1', agent }, (answer) => {
        answer.resume().once('close', () => {
          onAnswer(answer.complete ? (answer.statusCode ?? 0) : 0)
          next()
        })
      })
      sent.once('error', () => setTimeout(next, afterErrorMs))
      sent.end(body)
    }
    for (let started = 0; started < count; started++) next()
    return () => {
      isStopped = true
      agent.destroy()
    }
  }
}

const afterErrorMs = 50

const connections = 8
const files = 2
const bodies = 8
const wholeAnswers = 2
const answerBytes = 30_000_000
const catalogueBytes = 2_000_000
/** Below the gateway's limit of 32 MiB. */
const bodyBytes = 32_000_000

const asHolder =
  (path: string): CallOf =>
  ({ port, token }) => ({
    port,
    path: `/v1/usage${path}`,
    headers: { authorization: `Bearer ${token}` },
  })

const asOperator =
  (pathOf: (target: Target) => string): CallOf =>
  (target) => ({
    port: target.adminPort,
    path: `/admin/v1${pathOf(target)}`,
    headers: { authorization: `Bearer ${target.adminToken}` },
  })

/** Makes the bodies once, with the first call, and sends them in turn. */
function sending(
  method: string,
  path: string,
  makeBodies: (target: Target) => readonly object[],
): CallOf {
  let texts: readonly string[] | undefined
  const callOf = asOperator(() => path)
  return (target, index) => {
    texts ??= makeBodies(target).map((body) => JSON.stringify(body))
    return post(callOf(target, index), texts[index % texts.length] ?? '', method)
  }
}

function post(call: Call, body: string, method = 'POST'): Call {
  return { ...call, method, headers: { ...call.headers, 'content-type': 'application/json' }, body }
}

/** A list of prices with as many models as fill the length, of which the catalogue has none. */
function priceList(bytes: number): string {
  const facts = '"litellm_provider":"alpha","mode":"chat","max_tokens":8192'
  const prices = '"input_cost_per_token":3e-06,"output_cost_per_token":1.5e-05'
  return `{${repeated(`"model-#":{${facts},${prices}}`, bytes)}}`
}

/** A catalogue with further models; `input` is their price, so that another one changes all of them. */
function largeCatalogue(target: Target, input: number): string {
  const catalogue = JSON.parse(target.catalogue) as { readonly models: object }
  const price = `{"input":${input},"output":15}`
  const text = repeated(`"other-model-#":{"vendor":"alpha","price":${price}}`, catalogueBytes)
  const others = JSON.parse(`{${text}}`) as object
  return JSON.stringify({ ...catalogue, models: { ...catalogue.models, ...others } })
}

const question = JSON.stringify({
  model: models.chatStream,
  messages: [{ role: 'user', content: 'Hi' }],
})

function askWhole({ port, key }: Target): Call {
  const headers = { authorization: `Bearer ${key}` }
  return post({ port, path: `/beta${formatPaths.chat}`, headers }, question)
}

function sendingBody(makeBody: (bytes: number) => string): CallOf {
  let body: string | undefined
  return ({ port, key }) => {
    body ??= makeBody(bodyBytes)
    return post(
      { port, path: `/alpha${formatPaths.messages}`, headers: { 'x-api-key': key } },
      body,
    )
  }
}

/** A whole answer of the chat format with this text in it. */
function wholeAnswer(content: string): string {
  return (
    `{"id":"chatcmpl-0","object":"chat.completion","model":"${models.chatStream}","choices":[{"index":0,` +
    `"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"more":${content},` +
    `"usage":{"prompt_tokens":26,"completion_tokens":34,"total_tokens":60}}`
  )
}

const dayMs = 86_400_000

function daysAgo(days: number): string {
  return new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)
}

const period = `from=${daysAgo(61)}&to=${daysAgo(0)}`
const widest = 'by=day,account,key,model,channel'

const deepest = answerBytes / 2

/** What a vendor answers whole, by the name of the attack. */
const answers: Readonly<Record<string, () => string>> = {
  'one string': () => `"${'the '.repeat(answerBytes / 4)}"`,
  'a string of escapes': () => `"${'\\u00e9'.repeat(answerBytes / 6)}"`,
  'two million members': () => `{${repeated('"m#":#', answerBytes)}}`,
  'nested 15 million deep': () => '['.repeat(deepest) + ']'.repeat(deepest),
  'lists 500 deep': () => `[${repeated('['.repeat(500) + ']'.repeat(500), answerBytes)}]`,
}

/** A file with one row. */
function wideCsv(): string {
  const heading = repeated('c#', 3_000_000)
  return `model,${heading}\nx,${heading.replaceAll(/c\d+/g, '1')}\n`
}

const calls: readonly (readonly [name: string, atOnce: number, callOf: CallOf])[] = [
  ...Object.entries(bodyShapes).map(
    ([name, make]) => [`bodies of 32 MB, ${name}`, bodies, sendingBody(make)] as const,
  ),
  ['holder asks for statements', connections, asHolder('/statement?format=csv')],
  ['holder asks for days by key', connections, asHolder('/days?by=key')],
  ['holder asks for requests', connections, asHolder('/requests?limit=500')],
  [
    'operator asks for the widest report',
    connections,
    asOperator(() => `/reports?${widest}&${period}&limit=1000`),
  ],
  [
    'operator asks for the widest report as CSV',
    connections,
    asOperator(() => `/reports?${widest}&${period}&format=csv`),
  ],
  [
    'operator asks for statements',
    connections,
    asOperator(({ account }) => `/accounts/${account}/statement?format=csv`),
  ],
  ['operator asks for the overview', connections, asOperator(() => '/overview')],
  [
    'operator asks for requests of one model',
    connections,
    asOperator(() => '/requests?model=none&limit=100'),
  ],
  [
    'operator sends prices of 17 MB',
    files,
    sending('POST', '/prices/import', () => [{ text: priceList(17_000_000), dry_run: true }]),
  ],
  [
    'operator sends a catalogue of 2 MB, to look at',
    files,
    sending('PUT', '/catalogue?dry_run=true', (target) => [{ text: largeCatalogue(target, 3) }]),
  ],
  [
    'operator sends a catalogue of 2 MB, to apply',
    files,
    sending('PUT', '/catalogue', (target) =>
      [3, 4].map((price) => ({ text: largeCatalogue(target, price) })),
    ),
  ],
  [
    'operator sends a CSV of 3 MB with 430,000 columns',
    files,
    sending('POST', '/reconciliations', () => [
      { channel: 'all', from: daysAgo(8), to: daysAgo(1), vendor_counts: wideCsv() },
    ]),
  ],
]

export const callAttacks: readonly Attack[] = [
  ...calls.map(([name, atOnce, callOf]) => ({
    name: `${name}, ${atOnce} at once`,
    start: repeatCalls(atOnce, callOf),
  })),
  ...Object.entries(answers).map(([name, makeAnswer]) => ({
    name: `vendor answers 30 MB, ${name}`,
    start: repeatCalls(wholeAnswers, askWhole),
    makeAnswer: () => wholeAnswer(makeAnswer()),
  })),
]
