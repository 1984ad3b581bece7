/**
 * Test reporter: writes each event that matters as one line of JSON for `scripts/test-results.mjs`,
 * which counts and prints. Counts nothing itself, because one `npm test` is several runs.
 */
import { join, relative } from 'node:path'

/** What it calls a test is a whole file. */
const groupRunner = join('scripts', 'test-group.mjs')

export default async function* reporter(source) {
  for await (const event of source)
    // A test may have left its own line of output unfinished.
    for (const testEvent of simplify(event)) yield `\n${JSON.stringify({ testEvent })}\n`
}

function* simplify({ type, data }) {
  if (type !== 'test:pass' && type !== 'test:fail') return
  const { name, details, nesting } = data
  const file = data.file === undefined ? '?' : relative(process.cwd(), data.file)
  const durationMs = details?.duration_ms ?? 0
  const failure = failureOf(type, data)
  if (file === groupRunner)
    yield { kind: 'file', file: name, name: 'the file', durationMs, failure }
  else {
    const kind = details?.type === 'suite' ? 'suite' : 'test'
    yield { kind, file, name, durationMs: nesting === 0 ? durationMs : 0, failure }
  }
}

/** Returns what went wrong, or undefined. A skipped test has failed: nothing is skipped silently. */
function failureOf(type, { details, skip, todo }) {
  if (skip !== undefined || todo !== undefined) return 'skipped'
  const error = details?.error
  // The failed subtests are separate events.
  if (type === 'test:pass' || error?.failureType === 'subtestsFailed') return undefined
  const cause = error?.cause ?? error
  return cause?.stack ?? cause?.message ?? String(cause ?? 'failed')
}
