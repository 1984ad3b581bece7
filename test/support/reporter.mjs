/**
 * Test reporter: writes each event that matters as one line of JSON for `scripts/test-results.mjs`,
 * which counts and prints. Counts nothing itself, because one `npm test` is several runs.
 */
import { relative } from 'node:path'

/** The last of what each file has written to its standard error: why it failed, where no test of it did. */
const written = new Map()
const writtenMax = 4_000

export default async function* reporter(source) {
  for await (const event of source)
    // A test may have left its own line of output unfinished.
    for (const testEvent of simplify(event)) yield `\n${JSON.stringify({ testEvent })}\n`
}

function* simplify({ type, data }) {
  const file = data.file === undefined ? '?' : relative(process.cwd(), data.file)
  if (type === 'test:stderr') {
    written.set(file, `${written.get(file) ?? ''}${data.message}`.slice(-writtenMax))
  } else if (type === 'test:stdout') {
    // A test file prints these lines where it cannot run on this machine.
    for (const line of data.message.split('\n'))
      if (line.startsWith('not run: ')) yield { kind: 'not run', line }
  } else if (type === 'test:summary' && data.file !== undefined) {
    yield { kind: 'file', file, durationMs: data.duration_ms }
  } else if (type === 'test:pass' || type === 'test:fail') {
    const { name, details, nesting } = data
    const durationMs = nesting === 0 ? (details?.duration_ms ?? 0) : 0
    const kind = details?.type === 'suite' ? 'suite' : 'test'
    let failure = failureOf(type, data)
    if (failure !== undefined && name === file) failure += `\n${written.get(file) ?? ''}`
    yield { kind, file, name, durationMs, failure }
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
