/**
 * A running gateway may open no further file, because something else in its process group has lowered the
 * limit, or because more clients came than it allows for. Goal: answers that run come to their end and are
 * charged, new clients are refused or wait, the store and the log work on, the operator reads
 * once what is missing, and all serve again when there are files. (With a low limit from the start on:
 * test/e2e/open-files.test.ts.)
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertOwnError, hasEnd } from '../support/answers.ts'
import { demoCatalogueWith } from '../support/catalogues.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { readLogFile } from '../support/log-file.ts'
import { assertClean, chargesOf } from '../support/money.ts'
import { openAsk, sendAsk, wireRequest, urlOf, type Ask } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

const ask: Ask = { format: 'messages', isStream: true }

test('without a file left, what runs is served and charged, new clients are refused or wait, and the log says why once', async () => {
  const setup = await scenario({
    process: 'own',
    catalogue: demoCatalogueWith({ every: { check: 'none' } }),
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const logPath = join(setup.folder, 'log')
    const gateway = await setup.start({}, ['sh', '-c', `exec "$0" "$@" >> '${logPath}'`])
    const { account, sandbox } = setup
    const limitTo = (files: number): void =>
      void execFileSync('prlimit', ['--pid', String(gateway.pid), `--nofile=${files}:`])
    const health = () => send(`${gateway.url}/health`, { agent })
    assert.equal((await health()).status, 200)
    const gates = ['one', 'two', 'three']
    const running = gates.map((gate) =>
      openAsk(gateway.url, account.key, { ...ask, sandbox: `hold=${gate}@mid` }),
    )
    for (const gate of gates) await sandbox.faults.reached(gate)

    // Lower than the numbers of the files that it has open.
    limitTo(20)
    const crowd = Promise.allSettled(
      Array.from({ length: 20 }, () => sendAsk(gateway.url, account.key, ask)),
    )
    const request = wireRequest(account.key, ask)
    const onKept = () => send(urlOf(gateway.url, 'messages'), { ...request, agent })
    for (let times = 0; times < 3; times++) {
      const answer = await onKept()
      const { message } = assertOwnError(answer, 'messages', 503, 'without a file')
      assert.match(message, /can open no more connections/)
      assert.match(answer.headers['retry-after'] ?? '', /^\d+$/)
    }
    assert.equal((await health()).status, 200, 'no channel is blamed')
    for (const gate of gates) sandbox.faults.release(gate)
    for (const { ended } of running) assert.ok((await ended).text.includes('message_stop'))
    const charges = () => chargesOf(setup.context.database, account.id)
    assert.equal((await charges()).size, 3)
    const shortages = () =>
      readLogFile(logPath).filter(
        ({ msg, kind }) => msg === 'operator needed' && kind === 'shortage',
      )
    const said = await eventually('the log says it', health, () => shortages().length > 0)
    assert.equal(said.status, 200)
    assert.ok(shortages().every((line) => line['of'] === 'open_files'))
    assert.ok(shortages().length <= 2, 'one line in ten seconds')

    limitTo(512)
    const after = await Promise.all(
      Array.from({ length: 20 }, () => sendAsk(gateway.url, account.key, ask)),
    )
    assert.ok(after.every((answer) => hasEnd(answer, ask)))
    const served = (await crowd).filter(
      (one) => one.status === 'fulfilled' && hasEnd(one.value, ask),
    )
    assert.equal((await charges()).size, 3 + 20 + served.length)
    await assertClean(setup)
  } finally {
    agent.destroy()
    await setup.close()
  }
})
