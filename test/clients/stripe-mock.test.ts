/**
 * Stripe's own mock, which has the description of Stripe's API, takes what the gateway sends. Where the
 * machine has no usable toolchain for it, that is reported as not run.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Secret } from '../../src/base/secret.ts'
import { openStripe } from '../../src/operations/payments/stripe.ts'
import { gather } from '../support/gather.ts'
import { installGo } from './support/toolchains.ts'

const mock = 'github.com/stripe/stripe-mock@v0.203.0'
const order = {
  accountId: 'acc_1',
  amountCents: 1_234,
  returnUrl: 'https://gateway.example/account/',
}

test('Stripe accepts the session that the gateway asks for, and refuses a wrong one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-stripe-'))
  try {
    const toolchain = await installGo(mock, folder)
    if (toolchain.kind === 'missing')
      return void process.stdout.write(`not run: ${mock}, because ${toolchain.reason}\n`)
    await useMock(join(folder, 'stripe-mock'), async (url) => {
      const [secretKey, webhookSecret] = [new Secret('sk_test_123'), new Secret('whsec_123')]
      const { createCheckout } = openStripe({ secretKey, webhookSecret, url })
      assert.match(await createCheckout(order), /^https:\/\/checkout\.stripe\.com\//)
      await assert.rejects(createCheckout({ ...order, amountCents: Number.NaN }), /unit_amount/)
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

async function useMock(program: string, work: (url: string) => Promise<void>): Promise<void> {
  const anyPort = ['-http-addr', '127.0.0.1:', '-https-addr', '127.0.0.1:']
  const child = spawn(program, anyPort, { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  try {
    const said = await gather(child.stdout).until(/HTTP at address: \S+/)
    await work(`http://${said.replace(/.* /, '')}`)
  } finally {
    child.kill('SIGKILL')
    await closed
  }
}
