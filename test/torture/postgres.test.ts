/**
 * Two gateways on one PostgreSQL under forty clients, while either is killed, connections break in
 * the middle of a commit, sessions are terminated and the server crashes. Goal: zero lost, zero
 * double, zero answers seen to the end and not charged; the holds of dead nodes become free.
 */
import { test } from 'node:test'
import { scenario } from '../support/scenario.ts'
import { startFaultProxy, type FaultProxy, type Moment } from '../support/fault-proxy.ts'
import { startPostgres } from '../support/postgres.ts'
import { startNodes } from './nodes.ts'
import { report } from './report.ts'
import { shuffledFaults, torture, tortureFactor, tortureRandom, type Fault } from './torture.ts'

/** Short, so that a test need not wait long for what a dead node held. */
const lease = '2s'

test('two nodes on one PostgreSQL survive every fault', async (context) => {
  const random = tortureRandom()
  const server = await startPostgres()
  const storeUrl = await server.createDatabase()
  const setup = await scenario({ process: 'own', storeUrl, hasVendorProxy: true })
  const proxies = [await startFaultProxy(server), await startFaultProxy(server)]
  const nodes = await startNodes({
    setup,
    random,
    settings: proxies.map(({ port }, index) => ({
      store: withPort(storeUrl, port),
      node_lease: lease,
      node_name: `node-${index}`,
    })),
  })
  const pick = (): FaultProxy => {
    const proxy = proxies[Math.floor(random() * proxies.length)]
    if (proxy === undefined) throw new Error('there are proxies')
    return proxy
  }
  const cutCharge = (moment: Moment): Fault => ({
    name: `commit of charges cut: ${moment}`,
    inject: () => pick().cutNext({ direction: 'to_server', pattern: 'settle_', moment }),
  })
  try {
    const faults = shuffledFaults(
      [
        { name: 'kill -9', inject: () => nodes.kill() },
        { name: 'kill -9', inject: () => nodes.kill() },
        cutCharge('before'),
        cutCharge('after'),
        cutCharge('answered'),
        {
          name: 'placing of holds cut: answered',
          inject: () =>
            pick().cutNext({
              direction: 'to_server',
              pattern: 'place_requests',
              moment: 'answered',
            }),
        },
        {
          name: 'sessions terminated',
          inject: async () => void (await server.terminateBackends()),
        },
        { name: 'server crashed', inject: () => server.restart('immediate') },
        { name: 'vendors cut', inject: () => setup.vendorProxy?.cut() },
      ],
      tortureFactor,
      random,
    )
    const volume = await torture({
      setup,
      nodes,
      random,
      faults,
      endsPerFault: 30,
      name: 'postgres',
    })
    report(context, volume)
  } finally {
    await nodes.end()
    for (const proxy of proxies) await proxy.close()
    await setup.close()
    await server.close()
  }
})

function withPort(storeUrl: string, port: number): string {
  const url = new URL(storeUrl)
  url.port = String(port)
  return url.href
}
