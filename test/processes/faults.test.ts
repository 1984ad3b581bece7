/**
 * Ends of processes at bad moments: one gateway killed under load, the supervisor killed, all drained. Goal:
 * the others serve on, no process without a supervisor keeps the port, and the books agree with what clients
 * got.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { answering, isAccepting, pidOf, startProcesses } from '../support/processes.ts'

describe('several processes', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())

  it('serve on when one is killed, and start it again', async (context) => {
    const processes = await startProcesses(context, { server })
    let complete = 0
    let failed = 0
    const wanted = new AbortController()
    const asking = Array.from({ length: 4 }, async () => {
      while (!wanted.signal.aborted) {
        const answer = await processes.ask().catch(() => undefined)
        if (answer?.status === 200 && answer.isComplete) complete++
        else failed++
      }
    })
    while (answering(processes).size < 2)
      await processes.until({ msg: 'exchange ended' }, complete + 1)
    const killed = pidOf(processes, 'here-2')
    process.kill(killed, 'SIGKILL')
    const [line] = await processes.until({ msg: 'process ended' })
    assert.deepEqual([line?.process, line?.pid, line?.reason], ['here-2', killed, 'SIGKILL'])
    const completeThen = complete
    await processes.until({ msg: 'process ready', process: 'here-2' }, 2)
    assert.ok(complete > completeThen, 'the other one serves meanwhile')
    wanted.abort()
    await Promise.all(asking)
    assert.ok(failed <= 4, `only what the killed process served fails, not ${failed}`)

    const { requests } = await eventually(
      'the holds of the killed process are freed',
      () => processes.charged(),
      ({ holds }) => holds === 0,
    )
    // A process may die between the commit of a charge and the last byte of its answer.
    assert.ok(requests >= complete && requests <= complete + failed, `${requests} of ${complete}`)
    assert.deepEqual((await processes.program.json('audit'))['differences'], [])
  })

  it('drain all on SIGTERM', async (context) => {
    const processes = await startProcesses(context, { server })
    const streams = Array.from({ length: 10 }, () =>
      processes.stream('wait [[sandbox: hold=gate@before_terminal]]'),
    )
    for (const stream of streams) await stream.until((text) => text.includes('content_block_delta'))
    processes.signal('SIGTERM')
    await processes.until({ msg: 'draining', node: 'here-1' })
    await processes.until({ msg: 'draining', node: 'here-2' })
    processes.sandbox.faults.release('gate')
    for (const { ended } of streams) assert.match((await ended).text, /message_stop/)
    assert.equal(await processes.ended, 0)
    assert.equal(await isAccepting(processes.port), false)
    assert.deepEqual(await processes.charged(), { requests: streams.length, holds: 0 })
  })

  it('end at once on a second signal', async (context) => {
    const processes = await startProcesses(context, { server })
    const stream = processes.stream('wait [[sandbox: hold=gate@before_terminal]]')
    await stream.until((text) => text.includes('content_block_delta'))
    processes.signal('SIGTERM')
    await processes.until({ msg: 'draining', node: 'here-1' })
    processes.signal('SIGTERM')
    assert.equal(await processes.ended, 1)
    assert.equal((await stream.ended).isComplete, false)
    assert.equal(await isAccepting(processes.port), false)
  })

  it('finish their answers and free the port when the supervisor is killed', async (context) => {
    const processes = await startProcesses(context, { server })
    const stream = processes.stream('wait [[sandbox: hold=gate@before_terminal]]')
    await stream.until((text) => text.includes('content_block_delta'))
    processes.signal('SIGKILL')
    assert.equal(await processes.ended, 'SIGKILL')
    await processes.until({ msg: 'supervisor has ended, retiring' }, 2)
    await eventually(
      'the port is free',
      () => isAccepting(processes.port),
      (accepts) => !accepts,
    )
    processes.sandbox.faults.release('gate')
    assert.match((await stream.ended).text, /message_stop/)
    await processes.until({ msg: 'ended', node: 'here-1' })
    await processes.until({ msg: 'ended', node: 'here-2' })
    assert.deepEqual(await processes.charged(), { requests: 1, holds: 0 })
  })
})
