/**
 * Several processes as one gateway: one address, one set of limits, one set of metrics, one start of a store.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { send, type OpenAnswer } from '../support/http-client.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { answering, startProcesses } from '../support/processes.ts'

describe('several processes on one address', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())

  it('all answer, and show themselves as nodes and as one in the metrics', async (context) => {
    const processes = await startProcesses(context, { server })
    let count = 0
    while (answering(processes).size < 2) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => processes.ask()))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      count += answers.length
      await processes.until({ msg: 'exchange ended' }, count)
    }
    assert.deepEqual(answering(processes), new Set(['here-1', 'here-2']))

    const metrics = await processes.metrics()
    assert.match(
      metrics,
      lineOf(`turnpike_exchanges_total{.*ending="completed",status="200"} ${count}`),
    )
    assert.match(metrics, lineOf(`turnpike_exchange_duration_seconds_count{.*} ${count}`))
    assert.match(metrics, lineOf('turnpike_build_info{.*} 1'))
    assert.match(metrics, lineOf('turnpike_store_up 1'))
    assert.match(
      metrics,
      lineOf('turnpike_channel_state{channel="alpha-main",model="large-1",state="on"} 1'),
    )
    for (const slot of ['1', '2']) {
      assert.match(
        metrics,
        lineOf(`turnpike_process_resident_memory_bytes{process="${slot}"} \\d+`),
      )
      assert.match(
        metrics,
        lineOf(`turnpike_nodejs_eventloop_lag_p99_seconds{process="${slot}"} .+`),
      )
    }

    const list = await processes.program.run('channel', 'list')
    assert.match(list.out, /here-1[^]*here-2/)
    for (const path of ['/livez', '/readyz'])
      assert.equal((await send(processes.adminUrl + path)).status, 200)
    assert.equal((await send(`${processes.url}/health`)).status, 200)
    const doctor = await processes.program.run('doctor')
    assert.equal(doctor.code, 0, doctor.out)
  })

  it('keep a limit together', async (context) => {
    const environment = { TURNPIKE_MAX_RUNNING_PER_KEY: '2' }
    const processes = await startProcesses(context, { server, environment })
    const running: OpenAnswer[] = []
    const tryOnce = async (): Promise<void> => {
      const stream = processes.stream('wait [[sandbox: hold=gate@before_terminal]]')
      const shown = stream.until((text) => text.includes('content_block_delta'))
      const isRunning = await shown.then(
        () => true,
        () => false,
      )
      if (isRunning) running.push(stream)
      else assert.equal((await stream.ended).status, 429)
    }
    while (running.length < 2) await tryOnce()
    for (let times = 0; times < 30; times++) await tryOnce()
    assert.equal(running.length, 2)
    processes.sandbox.faults.release('gate')
    for (const { ended } of running) assert.ok((await ended).isComplete)
  })
})

function lineOf(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll('{', '\\{').replaceAll('}', '\\}')}$`, 'm')
}
