/**
 * What every client test stands on: a whole gateway with the sandbox vendors behind it, accounts
 * whose exchanges can be distinguished in the vendors' log, and the comparison of the two.
 *
 * A caller's name travels as the header `x-sandbox-marker`, which the gateway forwards like any
 * other, and directives to the vendors as `x-sandbox`: nothing about the clients has to be altered.
 */
import assert from 'node:assert/strict'
import type { ServedRecord } from '../../../sandbox/served-record.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import type { AccountOptions, TestAccount } from '../../support/accounts.ts'
import { scenario, type Scenario } from '../../support/scenario.ts'
import { usage } from '../../support/http-client.ts'
import { clientCatalogue, guardedFaults } from './catalogue.ts'
import { billFor, type Figures } from './charges.ts'
import { watchRequests, type SeenRequest } from './request-watch.ts'
import { setAccountStatus, showAccount } from '../../support/operations.ts'

export interface Caller extends TestAccount {
  /** To be sent with every request, so that the vendors' log knows whose it was. */
  readonly headers: Readonly<Record<string, string>>
  readonly balanceUsd: number
}

export interface ClientRig {
  readonly gateway: Scenario
  /** Where clients find the gateway. */
  readonly origin: string
  /** Base address as clients of the messages format write it. */
  readonly messagesUrl: string
  /** Base address as clients of the chat format write it. */
  readonly chatUrl: string
  readonly clock: ManualClock
  caller(wish?: AccountOptions): Promise<Caller>
  suspend(caller: Caller): Promise<unknown>
  /** Requests of this caller that reached the gateway. */
  attempts(caller: Caller): readonly SeenRequest[]
  /** Exchanges of this caller that reached a vendor. */
  served(caller: Caller): readonly ServedRecord[]
  /** The figures of the caller's `/v1/usage`. */
  figures(caller: Caller): Promise<Figures>
  /** `/v1/usage` says what the vendors' log says, to the pico-dollar; resolves with the figures. */
  assertChargedAsServed(caller: Caller): Promise<Figures>
  assertNotCharged(caller: Caller): Promise<void>
  /** No vendor was asked and no money moved; also where the account may not read its figures. */
  assertUntouched(caller: Caller): Promise<void>
  /** The first attempt was the main channel's; this many answers came from the reserve. */
  assertFailedOver(
    caller: Caller,
    guarded: { vendor: 'alpha' | 'beta'; index: number; answers: number },
  ): void
  /** Resolves with the next charge that is booked; to be called before what causes it. */
  nextCharge(): Promise<void>
  /** From now on, each answer with this status moves the gateway's clock: waiting clients are let in. */
  advanceOn(status: number, durationMs: number): void
  close(): Promise<void>
}

export async function startClientRig(catalogue = clientCatalogue): Promise<ClientRig> {
  const clock = new ManualClock()
  let announceCharge: () => void = () => undefined
  const gateway = await scenario({
    clock,
    catalogue,
    // A client that leaves is charged for what it was given, at once.
    settings: { client_left_grace: '0ms', body_max_bytes: String(bodyBytesMax) },
    onTracePoint(point) {
      if (point === 'charge_durable') announceCharge()
    },
  })
  const watch = await watchRequests(gateway.app.address.port)
  const watchedUrl = `http://127.0.0.1:${watch.port}`
  const { log, faults } = gateway.sandbox
  for (const [index, fault] of guardedFaults.entries())
    for (const vendor of ['alpha', 'beta']) faults.set(`${vendor}-guarded-${index}`, fault)

  async function figures(caller: Caller): Promise<Figures> {
    const answer = await usage(gateway.url, caller.token)
    const { requests, input_tokens, output_tokens, cache_tokens, cost_usd } = answer[
      'usage'
    ] as Figures
    assert.equal(answer['balance_usd'], Number((caller.balanceUsd - cost_usd).toFixed(12)))
    return { requests, input_tokens, output_tokens, cache_tokens, cost_usd }
  }

  return {
    gateway,
    origin: watchedUrl,
    messagesUrl: `${watchedUrl}/alpha`,
    chatUrl: `${watchedUrl}/beta/v1`,
    clock,
    async caller(wish = {}) {
      const balance = wish.balance_usd ?? '10'
      const account = await gateway.createAccount({ ...wish, balance_usd: balance })
      const headers = { 'x-sandbox-marker': account.name }
      return { ...account, headers, balanceUsd: Number(balance) }
    },
    suspend: (caller) =>
      setAccountStatus(gateway.context, { account: caller.name, status: 'suspended' }),
    attempts: (caller) =>
      watch.requests.filter(
        ({ headers }) =>
          headers['x-sandbox-marker'] === caller.name ||
          headers['authorization'] === `Bearer ${caller.key}`,
      ),
    served: (caller) => log.forMarker(caller.name),
    figures,
    async assertChargedAsServed(caller) {
      const charged = await figures(caller)
      assert.ok(charged.requests >= 1)
      assert.deepEqual(charged, billFor(log.forMarker(caller.name)))
      return charged
    },
    async assertNotCharged(caller) {
      const { requests, cost_usd } = await figures(caller)
      assert.deepEqual({ requests, cost_usd }, { requests: 0, cost_usd: 0 })
    },
    async assertUntouched(caller) {
      assert.deepEqual(log.forMarker(caller.name), [])
      const account = await showAccount(gateway.context, { account: caller.name })
      assert.equal(Number(account.balance_usd), caller.balanceUsd)
    },
    assertFailedOver(caller, { vendor, index, answers }) {
      const channels = log.forMarker(caller.name).map(({ channel }) => channel)
      assert.equal(channels[0], `${vendor}-guarded-${index}`)
      const reserve = `${vendor}-guard-${index}`
      assert.equal(channels.filter((channel) => channel === reserve).length, answers)
    },
    nextCharge: () => new Promise((resolve) => (announceCharge = resolve)),
    advanceOn(status, durationMs) {
      watch.onAnswered = (request) => {
        if (request.status === status) clock.advance(durationMs)
      }
    },
    async close() {
      await watch.close()
      const audit = await gateway.audit()
      await gateway.close()
      assert.equal(audit.clean, true)
    },
  }
}

/** Small, so that a body beyond it need not be huge; Claude Code sends about 50 kB. */
export const bodyBytesMax = 1_048_576
