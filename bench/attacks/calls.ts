/**
 * Attacks by calls that are allowed: the holder of an account asks for statements, an operator sends files
 * and asks for reports, a vendor answers with megabytes. Each connection makes one call after the other.
 */
import { Agent, request } from 'node:http'
import { formatPaths, models } from '../exchanges.ts'
import { attackerAddress, type Attack, type Target } from './attack.ts'

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
const wholeAnswers = 2
const answerBytes = 30_000_000

function askAsHolder({ port, token }: Target, path: string): Call {
  return { port, path: `/v1/usage${path}`, headers: { authorization: `Bearer ${token}` } }
}

function askAsOperator({ adminPort, adminToken }: Target, path: string): Call {
  const headers = { authorization: `Bearer ${adminToken}` }
  return { port: adminPort, path: `/admin/v1${path}`, headers }
}

function sendAsOperator(target: Target, method: string, path: string, body: string): Call {
  const { headers, ...call } = askAsOperator(target, path)
  return { ...call, method, headers: { ...headers, 'content-type': 'application/json' }, body }
}

/** `part` repeated up to a length; `#` stands for a number that makes each part different. */
function repeated(part: string, bytes: number): string {
  const parts: string[] = []
  for (let index = 0, length = 0; length < bytes; index++) {
    const one = part.replaceAll('#', String(index))
    parts.push(one)
    length += one.length + 1
  }
  return parts.join(',')
}

/** A list of prices with as many models as fill the length, of which the catalogue has none. */
function priceList(bytes: number): string {
  const facts = '"litellm_provider":"alpha","mode":"chat","max_tokens":8192'
  const prices = '"input_cost_per_token":3e-06,"output_cost_per_token":1.5e-05'
  return `{${repeated(`"model-#":{${facts},${prices}}`, bytes)}}`
}

/** A catalogue with further models; `input` is their price, so that another one changes all of them. */
function largeCatalogue(target: Target, bytes: number, input: number): string {
  const catalogue = JSON.parse(target.catalogue) as { readonly models: object }
  const price = `{"input":${input},"output":15}`
  const text = repeated(`"other-model-#":{"vendor":"alpha","price":${price}}`, bytes)
  const others = JSON.parse(`{${text}}`) as object
  return JSON.stringify({ ...catalogue, models: { ...catalogue.models, ...others } })
}

const catalogueBytes = 2_000_000

/** Makes the body once, with the first call. */
function sending(
  method: string,
  path: string,
  makeBodies: (target: Target) => readonly object[],
): CallOf {
  let bodies: readonly string[] | undefined
  return (target, index) => {
    bodies ??= makeBodies(target).map((body) => JSON.stringify(body))
    return sendAsOperator(target, method, path, bodies[index % bodies.length] ?? '')
  }
}

function askWhole({ port, key }: Target): Call {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = { model: models.chatStream, messages: [{ role: 'user', content: 'Hi' }] }
  const path = `/beta${formatPaths.chat}`
  return { port, method: 'POST', path, headers, body: JSON.stringify(body) }
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

function holderAttack(name: string, path: string): Attack {
  return {
    name: `read-only token asks for ${name}, ${connections} connections`,
    start: repeatCalls(connections, (target) => askAsHolder(target, path)),
  }
}

function reportAttack(name: string, pathOf: (target: Target) => string): Attack {
  return {
    name: `operator asks for ${name}, ${connections} connections`,
    start: repeatCalls(connections, (target) => askAsOperator(target, pathOf(target))),
  }
}

function fileAttack(name: string, callOf: CallOf): Attack {
  return { name: `operator sends ${name}`, start: repeatCalls(files, callOf) }
}

function answerAttack(name: string, makeAnswer: () => string): Attack {
  return {
    name: `vendor answers 30 MB, ${name}`,
    start: repeatCalls(wholeAnswers, askWhole),
    makeAnswer: () => wholeAnswer(makeAnswer()),
  }
}

const deepest = answerBytes / 2

export const callAttacks: readonly Attack[] = [
  holderAttack('statements', '/statement?format=csv'),
  holderAttack('days by key', '/days?by=key'),
  holderAttack('requests', '/requests?limit=500'),
  reportAttack('the widest report', () => `/reports?${widest}&${period}&limit=1000`),
  reportAttack('the widest report as CSV', () => `/reports?${widest}&${period}&format=csv`),
  reportAttack('statements', ({ account }) => `/accounts/${account}/statement?format=csv`),
  reportAttack('the overview', () => '/overview'),
  reportAttack('requests of one model', () => `/requests?model=none&limit=100`),
  answerAttack('one string', () => `"${'the '.repeat(answerBytes / 4)}"`),
  answerAttack('a string of escapes', () => `"${'\\u00e9'.repeat(answerBytes / 6)}"`),
  answerAttack('two million members', () => `{${repeated('"m#":#', answerBytes)}}`),
  answerAttack('nested 15 million deep', () => '['.repeat(deepest) + ']'.repeat(deepest)),
  answerAttack(
    'lists 500 deep',
    () => `[${repeated('['.repeat(500) + ']'.repeat(500), answerBytes)}]`,
  ),
  fileAttack(
    'prices of 17 MB',
    sending('POST', '/prices/import', () => [{ text: priceList(17_000_000), dry_run: true }]),
  ),
  fileAttack(
    'a catalogue of 2 MB, to look at',
    sending('PUT', '/catalogue?dry_run=true', (target) => [
      { text: largeCatalogue(target, catalogueBytes, 3) },
    ]),
  ),
  fileAttack(
    'a catalogue of 2 MB, to apply',
    sending('PUT', '/catalogue', (target) =>
      [3, 4].map((price) => ({ text: largeCatalogue(target, catalogueBytes, price) })),
    ),
  ),
  fileAttack(
    'a CSV of 3 MB with 430,000 columns',
    sending('POST', '/reconciliations', () => {
      const heading = repeated('c#', 3_000_000)
      const columns = heading.split(',').length
      const text = `model,${heading}\nx,${'1,'.repeat(columns - 1)}1\n`
      return [{ channel: 'all', from: daysAgo(8), to: daysAgo(1), vendor_counts: text }]
    }),
  ),
]
