/** The log as it stands on its descriptor: JSON lines, redacted by name, complete once closed. */
import assert from 'node:assert/strict'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createLog } from './log.ts'
import { Secret } from './secret.ts'

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-log-'))
})
after(() => rmSync(folder, { recursive: true }))

async function linesOf(
  level: string,
  write: (logger: ReturnType<typeof createLog>['logger']) => void,
) {
  const path = join(folder, `${level}-${Math.random()}.log`)
  // Never closed: a log writes to its descriptor at intervals for as long as the process lives.
  const log = createLog({ level, descriptor: openSync(path, 'w') })
  write(log.logger)
  await log.close()
  const text = readFileSync(path, 'utf8')
  return { text, lines: text.trimEnd().split('\n').filter(Boolean) }
}

test('each line is one JSON object with its level as a word and its time', async () => {
  const { lines } = await linesOf('info', (logger) => {
    logger.info({ exchangeId: 'ex_1' }, 'first')
    logger.debug('below the level')
    logger.error({ text: 'a\nb\u001b[31m\u2028' }, 'second')
  })
  assert.equal(lines.length, 2)
  const [first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.deepEqual(
    [first?.['level'], first?.['msg'], first?.['exchangeId']],
    ['info', 'first', 'ex_1'],
  )
  assert.match(String(first?.['time']), /^\d{4}-\d{2}-\d{2}T.*Z$/)
  assert.equal(second?.['level'], 'error')
  assert.ok(!lines.join('').includes('\u001b'), 'control characters are escaped')
})

test('what should never be handed over is stars, in case it is', async () => {
  const canary = 'canary-log'
  const names = ['authorization', 'credential', 'secret', 'token', 'body', 'headers', 'query']
  const { text } = await linesOf('trace', (logger) => {
    for (const name of names) {
      logger.trace({ [name]: canary }, 'at the top')
      logger.trace({ request: { [name]: { inner: canary } } }, 'one below')
    }
    logger.trace({ anything: new Secret(canary) }, 'a secret under any name')
  })
  assert.ok(!text.includes(canary), text)
  assert.equal(text.match(/\*\*\*/g)?.length, names.length * 2 + 1)
})
