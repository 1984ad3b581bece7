/**
 * Every log message that an operator can see is explained in docs/operating.md. Messages of level debug
 * are not: they are for developers.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')

/** A call of the logger, up to its last text. */
const calls =
  /\b(?:log(?:ger)?(?:\.(?:info|warn|error|fatal)|\[\w+(?:\[\w+\])?\]))\((?:[^;]*?[\s,])??'([^'\n]{4,})',?\s*\)/g

/** The fixed part of each message: up to the first comma, colon or semicolon. */
function messagesIn(text: string): readonly string[] {
  return [...text.matchAll(calls)].map(([, message = '']) => message.split(/[,:;]/)[0] ?? '')
}

test('finds messages in each form of call', () => {
  const text = [
    "log.info('charges stored')",
    "logger.warn({ lines }, 'lines lost: no room')",
    "log.error(\n  { a: 'b', c },\n  'store failed',\n)",
    "log[level](summary, 'exchange ended')",
    "log.debug(summary, 'for developers')",
  ].join('\n')
  const expected = ['charges stored', 'lines lost', 'store failed', 'exchange ended']
  assert.deepEqual(messagesIn(text), expected)
})

test('docs/operating.md explains every log message', () => {
  const page = readFileSync(join(root, 'docs/operating.md'), 'utf8')
  const messages = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => messagesIn(readFileSync(join(root, 'src', name), 'utf8')))
  assert.ok(messages.length >= 15, messages.join(', '))
  assert.deepEqual(
    messages.filter((message) => !page.includes(`\`${message}`)),
    [],
  )
})
