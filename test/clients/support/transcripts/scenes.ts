/**
 * The seven scenes of a transcript: what the key, the balance and the vendors are like when a client
 * asks. Each scene has a gateway and vendors to itself, and time passes as it does for a user.
 */
import { stringify } from 'yaml'
import { commandClock, sleep } from '../../../../src/base/clock.ts'
import { demoCatalogue } from '../../../../sandbox/demo.ts'
import type { FaultRule } from '../../../../sandbox/faults.ts'
import type { AccountOptions } from '../../../support/accounts.ts'
import { post } from '../../../support/http-client.ts'
import { scenario } from '../../../support/scenario.ts'
import { watchRequests, type RequestWatch, type SeenRequest } from '../request-watch.ts'
import type { SceneName } from './form.ts'

interface Scene {
  readonly account?: AccountOptions
  readonly isKeyWrong?: true
  readonly isMinuteUsed?: true
  /** What every channel of every vendor does. */
  readonly fault?: () => FaultRule
  readonly modelsThink?: true
}

/** A gateway in one of the scenes. */
export interface Stage {
  readonly scene: SceneName
  readonly origin: string
  /** What the client is to use. */
  readonly key: string
  /** The account. */
  readonly name: string
  readonly requests: readonly SeenRequest[]
  close(): Promise<void>
}

const silenceMs = 130_000
const thinkingOperations = new Set([
  'messages.create',
  'chat.completions.create',
  'responses.create',
])
/** Agents let it give a title to a session, beside the answer. */
const smallModel = 'chat-mini-1'
const requestsPerMinute = 20

const scenes: Readonly<Record<SceneName, Scene>> = {
  'an answer with tools': {},
  '401: a wrong key': { isKeyWrong: true },
  '402: an empty balance': { account: { balance_usd: '0.000001' } },
  '429: requests per minute': { account: { rpm: requestsPerMinute }, isMinuteUsed: true },
  '429: the daily limit': { account: { daily_usd: '0.000001' } },
  '529: every channel is overloaded': { fault: () => () => 'error=messages.529' },
  'a model that thinks for 130 s': { fault: thinkOnce, modelsThink: true },
}

/**
 * One answer is silent before its first output, and the later ones are not: a program that asks several times
 * must end. A response begins with events that only say that the vendor has begun.
 */
function thinkOnce(): FaultRule {
  let hasThought = false
  return (_, { operation, model, isStream }) => {
    if (hasThought || !thinkingOperations.has(operation) || model === smallModel) return undefined
    hasThought = true
    if (!isStream) return `delay_ms=${silenceMs}`
    const isResponse = operation === 'responses.create'
    return `${isResponse ? 'first_output' : 'first_event'}_delay_ms=${silenceMs}`
  }
}

export async function startScene(
  name: SceneName,
  settings: Readonly<Record<string, string>> = {},
): Promise<Stage> {
  const { account, isKeyWrong, isMinuteUsed, fault, modelsThink = false } = scenes[name]
  const gateway = await scenario({
    catalogue: (url) => catalogue(url, modelsThink),
    settings: { client_left_grace: '0ms', ...settings },
    ...(account === undefined ? {} : { account: { balance_usd: '10', ...account } }),
  })
  if (fault !== undefined) gateway.sandbox.faults.set('*', fault())
  const { key, name: accountName } = gateway.account
  const watch = await watchRequests(gateway.app.address.port)
  const end = new AbortController()
  const filling =
    isMinuteUsed === true ? fillMinute(`${gateway.url}/alpha`, key, watch, end.signal) : undefined
  await filling?.filled
  return {
    scene: name,
    origin: `http://127.0.0.1:${watch.port}`,
    key: isKeyWrong === true ? `${key.slice(0, -2)}xx` : key,
    name: accountName,
    requests: watch.requests,
    async close() {
      end.abort()
      await filling?.ended
      await watch.close()
      await gateway.close()
    },
  }
}

/**
 * Makes requests until the limit refuses one, and more as the first ones grow old, until the client
 * has come: it may start slowly. A request that is refused for its body counts toward the limit.
 */
function fillMinute(
  url: string,
  key: string,
  { requests }: RequestWatch,
  signal: AbortSignal,
): { readonly filled: Promise<void>; readonly ended: Promise<void> } {
  const fill = async (): Promise<void> => {
    for (let status = 0; status !== 429 && !signal.aborted;)
      status = await post(`${url}/v1/messages`, key, {}).then(
        (answer) => answer.status,
        () => 0, // A busy machine may cut a connection; the next request takes a new one.
      )
  }
  const filled = fill()
  const keepFull = async (): Promise<void> => {
    await filled
    while (!requests.some(({ method }) => method === 'POST') && !signal.aborted) {
      await sleep(commandClock, 1_000, signal)
      await fill()
    }
  }
  return { filled, ended: keepFull() }
}

/** The demo's, with two models that clients ask for by name. */
function catalogue(url: string, modelsThink: boolean): string {
  const { vendors, models, channels } = demoCatalogue(url)
  const named = {
    ...models,
    'gpt-6.1-sol': models['chat-1'],
    'claude-haiku-4-5': { ...models['small-1'], dated: true },
  }
  const thinks = modelsThink ? { thinks: true } : {}
  const more: Readonly<Record<string, string>> = { alpha: 'claude-haiku-4-5', beta: 'gpt-6.1-sol' }
  return stringify({
    vendors,
    models: Object.fromEntries(
      Object.entries(named).map(([id, model]) => [
        id,
        id === 'embed-1' ? model : { ...model, ...thinks },
      ]),
    ),
    channels: Object.fromEntries(
      Object.entries(channels).map(([id, channel]) => [
        id,
        { ...channel, models: [...channel.models, more[channel.vendor]], check: 'none' },
      ]),
    ),
  })
}
