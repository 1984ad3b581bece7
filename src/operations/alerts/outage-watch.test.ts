import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../base/secret.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { OutageWatch } from './outage-watch.ts'
import type { AlertTarget } from './target-store.ts'

function emailTarget(name: string, address: string): AlertTarget {
  const kind = { format: 'email', sealed: undefined, minSeverity: 'info' } as const
  return { id: `trg_${name}`, name, address, createdAtMs: 0, ...kind }
}

test('operators learn of an outage of the store, and account holders do not', async () => {
  const clock = new ManualClock(Date.parse('2026-11-21T12:00:00Z'))
  const recipients: string[] = []
  const watch = new OutageWatch({
    sending: {
      clock,
      masterKey: () => new Secret('not used by mails'),
      region: '',
      post: () => Promise.reject(new Error('no post')),
      mail: ({ to }) => {
        recipients.push(to)
        return Promise.resolve({ kind: 'accepted' })
      },
    },
    random: () => 0.5,
    nodeName: 'node-1',
    isStoreAvailable: () => false,
    onAttempt: () => undefined,
  })
  watch.know([emailTarget('holders', 'contact'), emailTarget('ops', 'ops@example.com')])
  for (let look = 0; look < 3; look++) {
    watch.look()
    await watch.settled()
    clock.advance(15_000)
  }
  assert.deepEqual(recipients, ['ops@example.com'])
})
