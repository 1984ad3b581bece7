/**
 * One gateway on SQLite that is killed, whose disk fails, fills up and has room again, under forty
 * clients, with vendors that fail and clients that leave. Goal: no complete answer without its
 * charge, no charge twice, and the books are clean.
 */
import { test } from 'node:test'
import { scenario } from '../support/scenario.ts'
import { failSync, fillDisk } from './disk-faults.ts'
import { startNodes } from './nodes.ts'
import { report } from './report.ts'
import { shuffledFaults, torture, tortureFactor, tortureRandom } from './torture.ts'

test('one gateway on SQLite survives every fault', async (context) => {
  const random = tortureRandom()
  const setup = await scenario({ process: 'own', hasVendorProxy: true })
  const nodes = await startNodes({ setup, random, settings: [{}] })
  try {
    const faults = shuffledFaults(
      [
        { name: 'kill -9', inject: () => nodes.kill() },
        { name: 'vendors cut', inject: () => setup.vendorProxy?.cut() },
        { name: 'sync fails', inject: () => nodes.disturb(failSync) },
        { name: 'disk full', inject: () => nodes.disturb(fillDisk) },
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
      name: 'embedded',
    })
    report(context, volume)
  } finally {
    await nodes.end()
    await setup.close()
  }
})
