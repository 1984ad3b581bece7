/**
 * A disk without room, at each part of the program that writes to one. Goal: no complete answer is given
 * away, no client pays for an answer that it did not get, the sentence says what is full, and all goes on
 * without a restart once there is room. Real disks of a few megabytes.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { hourMs } from '../../src/base/clock.ts'
import { sealHours } from '../../src/ledger/proof/sealing.ts'
import { settleAdminToken } from '../../src/operations/keys/first-admin-token.ts'
import { assertOwnError, hasEnd, isErrorEvent } from '../support/answers.ts'
import { runCommand, runIntoFullFile } from '../support/command-hosts.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { readLogFile } from '../support/log-file.ts'
import { assertClean, chargesOf } from '../support/money.ts'
import { listAdminTokens } from '../support/operations.ts'
import { startPostgres } from '../support/postgres.ts'
import { openAsk, sendAsk, type Ask } from '../support/requests.ts'
import { scenario, type LogLine, type ProcessScenario } from '../support/scenario.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

const root = join(import.meta.dirname, '..', '..')

/** Each file of the program that writes to a disk, what happens without room, and the test that plays it. */
const writers: Readonly<Record<string, { readonly outcome: string; readonly test: string }>> = {
  'src/storage/sqlite/connection.ts': {
    outcome: 'requests get 503, answers under way are withheld and cost nothing; it recovers',
    test: 'test/bad-days/disk-full.test.ts',
  },
  'src/base/log.ts': {
    outcome: 'requests are served; lines wait in memory, and are written once there is room',
    test: 'test/bad-days/disk-full.test.ts',
  },
  'src/storage/backup.ts': {
    outcome: 'the command or download is refused, names the folder, and leaves no file',
    test: 'test/bad-days/disk-full.test.ts',
  },
  'src/cli/command.ts': {
    outcome: 'a statement, report or export ends with 1 and says that it is not complete',
    test: 'test/bad-days/disk-full.test.ts',
  },
  'src/storage/open-error.ts': {
    outcome: 'its trial file tells a full disk from a damaged store, and is removed',
    test: 'test/commands/unusable-store.test.ts',
  },
  'src/storage/master-key.ts': {
    outcome: 'the first start ends with a sentence, and leaves no half of a key',
    test: 'test/bad-days/disk-full.test.ts',
  },
  'src/base/folders.ts': {
    outcome: 'the first start ends with a sentence',
    test: 'test/bad-days/disk-full.test.ts',
  },
  'src/operations/keys/first-admin-token.ts': {
    outcome: 'no token is made, and the log says which command makes one',
    test: 'test/bad-days/disk-full.test.ts',
  },
  'src/cli/init/init-command.ts': {
    outcome: 'the command ends with 1 and leaves no file',
    test: 'test/commands/init.test.ts',
  },
}

/** These write to a terminal or a pipe alone; `src/cli/command.ts` answers for a lost standard output. */
const printers = ['src/cli/program.ts', 'src/cli/commands/gateway.ts', 'src/cli/start.ts']

const writing =
  /\b(?:writeFile|appendFile|copyFile|write|mkdir)Sync\(|\bappendFile\(|createWriteStream\(|stdout\.write\(|new DatabaseSync\(|openSync\([^)]*'(?:wx?|a|r\+)'/

test('every file of the program that writes has an outcome without room, and a test', () => {
  const found = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `src/${name}`)
    .filter((name) => writing.test(readFileSync(join(root, name), 'utf8')))
  assert.deepEqual(found.toSorted(), [...Object.keys(writers), ...printers].toSorted())
  for (const { test: file } of Object.values(writers)) {
    const text = readFileSync(join(root, file), 'utf8')
    assert.match(text, /disk|space|room/, file)
  }
})

const stream: Ask = { format: 'messages', isStream: true }
const whole: Ask = { format: 'chat', isStream: false }

async function untilHealth(url: string, status: number): Promise<void> {
  const ask = () => send(`${url}/health`)
  await eventually(`health ${status}`, ask, (answer) => answer.status === status)
}

/** Resolves with how many answers came whole before one could not be charged. */
async function askUntilFull({ account }: ProcessScenario, url: string): Promise<number> {
  for (let answers = 0; answers < 500; answers++) {
    const answer = await sendAsk(url, account.key, stream)
    if (hasEnd(answer, stream)) continue
    const { text, status } = answer
    // Where the hold found no room either, the vendor was not even asked.
    if (status === 503) assertOwnError(answer, 'messages', 503, 'no hold')
    else assert.ok(!answer.isComplete && isErrorEvent(text, 'messages'), text)
    return answers
  }
  throw new Error('the disk has to be full at some time')
}

test('the disk of a SQLite store and the disk of the log: 503 with a reason, and both recover', async () => {
  const disk = mountSmallDisk(12)
  const logDisk = mountSmallDisk(1)
  const logPath = join(logDisk.folder, 'log')
  const setup = await scenario({
    process: 'own',
    storeUrl: `sqlite:${join(disk.folder, 'turnpike.db')}`,
  })
  try {
    const intoFile = ['sh', '-c', `exec "$0" "$@" >> '${logPath}'`]
    const { url } = await setup.start({ log_level: 'debug' }, intoFile)
    const command = (...words: readonly string[]) =>
      runCommand(words, { cwd: setup.folder, env: { TURNPIKE_STORE: setup.storeUrl } })
    logDisk.fill()
    for (const ask of [stream, whole])
      assert.ok(hasEnd(await sendAsk(url, setup.account.key, ask), ask), 'without a log')

    disk.fill()
    const answers = 2 + (await askUntilFull(setup, url))
    await untilHealth(url, 503)
    const refused = await sendAsk(url, setup.account.key, whole)
    assertOwnError(refused, 'chat', 503, 'while the disk is full')
    assert.match(refused.headers['retry-after'] ?? '', /^\d+$/)
    const credit = await command('account', 'credit', setup.account.name, '5', '--reference', 'r')
    assert.equal(credit.code, 1)
    assert.match(credit.error, /no space left. Make room/)
    const { database, masterKey } = setup.context
    const sealAll = () =>
      sealHours(database, {
        nowMs: Date.now() + hourMs,
        masterKey: masterKey(),
        pause: () => Promise.resolve(),
      })
    await assert.rejects(sealAll(), 'nothing can be sealed')
    const backup = await command('backup', join(logDisk.folder, 'copy.db'))
    assert.equal(backup.code, 1)
    assert.match(backup.error, /no (?:room|space) left/)
    assert.deepEqual(readdirSync(logDisk.folder).toSorted(), ['filler', 'log'])

    disk.free()
    await untilHealth(url, 200)
    assert.ok(hasEnd(await sendAsk(url, setup.account.key, whole), whole))
    assert.equal((await chargesOf(database, setup.account.id)).size, answers + 1)
    assert.equal((await sealAll()).entries > answers, true)
    await assertClean(setup)
    logDisk.free()
    const recovered = await eventually(
      'the lines that waited',
      () => sendAsk(url, setup.account.key, whole).then(() => readLogFile(logPath)),
      (all) => all.some(({ msg }) => msg === 'ledger recovered'),
    )
    assert.ok(recovered.some(({ reason }) => reason === 'disk_full'))
  } finally {
    await setup.close()
    disk.close()
    logDisk.close()
  }
})

test('a first start on a full disk ends with a sentence and leaves nothing; with room it starts', async (context) => {
  const disk = mountSmallDisk(4)
  context.after(() => disk.close())
  disk.fill()
  const place = { cwd: disk.folder, env: {} }
  const create = ['account', 'create', 'acme', '--json']
  const refused = await runCommand(create, place)
  assert.equal(refused.code, 1)
  assert.match(refused.out, /no (?:room|space) left/)
  disk.free()
  const made = await runCommand(create, place)
  assert.equal(made.code, 0, made.out)
  assert.ok(existsSync(join(disk.folder, 'data', 'turnpike.db')))
})

test('a first admin token that finds no room in its file is not made, and no half of it is left', async (context) => {
  const disk = mountSmallDisk(1)
  const setup = await scenario({ process: 'own' })
  context.after(async () => {
    await setup.close()
    disk.close()
  })
  disk.fill()
  const unsaved: { path: string; reason: unknown }[] = []
  const settle = () =>
    settleAdminToken(setup.context, {
      given: undefined,
      isTerminal: false,
      store: `sqlite:${join(disk.folder, 'turnpike.db')}`,
      onUnsaved: (one) => unsaved.push(one),
    })
  assert.equal(await settle(), undefined)
  assert.deepEqual(
    unsaved.map(({ reason }) => reason),
    ['ENOSPC'],
  )
  assert.deepEqual(readdirSync(disk.folder), ['filler'])
  assert.deepEqual(await listAdminTokens(setup.context, {}), [])
  disk.free()
  const made = await settle()
  assert.ok(made?.kind === 'saved')
  assert.match(readFileSync(made.path, 'utf8'), /^ad_\w+\n$/)
})

test('a printed statement that finds no room is no whole statement: the command says so and ends with 1', async (context) => {
  const setup = await scenario({ process: 'own' })
  context.after(() => setup.close())
  const place = { cwd: setup.folder, env: { TURNPIKE_STORE: setup.storeUrl } }
  for (const words of [
    ['account', 'statement', setup.account.name, '--csv'],
    ['report', '--csv'],
    ['export'],
  ]) {
    const ran = await runIntoFullFile(words, place)
    assert.equal(ran.code, 1, words.join(' '))
    assert.match(ran.error, /no space left. The output is not complete/)
  }
})

test('the disk of PostgreSQL: 503 while it is full, and it recovers', async () => {
  const disk = mountSmallDisk(160)
  const server = await startPostgres({ parentFolder: disk.folder })
  const lines: LogLine[] = []
  const gateway = await scenario({
    storeUrl: await server.createDatabase(),
    settings: { settle_timeout: '2s' },
    onLogLine: (line) => lines.push(line),
  })
  try {
    assert.ok(hasEnd(await gateway.ask(whole), whole))
    // More charges than fit into the pages that the tables have.
    const gates = Array.from({ length: 40 }, (_, index) => `full-${index}`)
    const running = gates.map((gate) =>
      openAsk(gateway.url, gateway.account.key, { ...stream, sandbox: `hold=${gate}@mid` }),
    )
    for (const gate of gates) await gateway.sandbox.faults.reached(gate)
    disk.fill()
    for (const gate of gates) gateway.sandbox.faults.release(gate)
    await untilHealth(gateway.url, 503)
    assertOwnError(await gateway.ask(whole), 'chat', 503, 'while the disk is full')
    const ended = await Promise.all(running.map((one) => one.ended))
    const withheld = ended.filter(({ text }) => !text.includes('message_stop'))
    assert.ok(withheld.length > 0)
    for (const { text } of withheld) assert.ok(isErrorEvent(text, 'messages'), text)

    disk.free()
    await untilHealth(gateway.url, 200)
    const answered = await eventually(
      'an answer',
      () => gateway.ask(whole),
      (answer) => hasEnd(answer, whole),
    )
    assert.equal(answered.status, 200)
    const charges = await chargesOf(gateway.context.database, gateway.account.id)
    assert.equal(charges.size, 1 + ended.length - withheld.length + 1)
    await assertClean(gateway)
    const reasons = lines.filter(({ msg }) => msg === 'fault').map(({ reason }) => String(reason))
    assert.ok(
      reasons.some((reason) => /No space left on device/.test(reason)),
      reasons.join('\n'),
    )
  } finally {
    await gateway.close()
    await server.close()
    disk.close()
  }
})
