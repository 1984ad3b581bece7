import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectRaw } from '../../../test/support/http-client.ts'
import { listenerDefaults } from '../../../test/support/listener-options.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { buildIpRanges } from '../../base/ip-address.ts'
import { ClientAddresses } from './client-address.ts'
import { listen } from './listener.ts'

test('a connection whose PROXY line does not arrive in time is closed', async () => {
  const clock = new ManualClock()
  const addresses = new ClientAddresses({
    trusted: buildIpRanges(['127.0.0.1']),
    header: 'x-forwarded-for',
    onUnlistedProxy: () => undefined,
  })
  const options = { ...listenerDefaults, clock, addresses, hasProxyProtocol: true }
  const listener = await listen(options, () => undefined)
  const url = `http://127.0.0.1:${listener.address.port}`
  const silent = await connectRaw(url)
  const slow = await connectRaw(url)
  slow.write('PROXY TCP4 192.0.2.1 ')
  // A round trip: both have been accepted, and what was written has arrived.
  const other = await connectRaw(url)
  other.write('no PROXY line')
  assert.equal((await other.next())?.status, 400)

  clock.advance(listenerDefaults.headTimeoutMs + 1_000)
  await Promise.all([silent.ended, slow.ended])
  for (const connection of [silent, slow, other]) connection.close()
  await listener.close()
})
