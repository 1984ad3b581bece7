/**
 * Test reporter: one line per test file, the details of every failure, and at the end the plain
 * line `N passed, N failed`. A test that was skipped counts as a failure: nothing is skipped silently.
 * What a machine cannot run is told by the test file as a line `not run: …`, which is passed on.
 */
import { relative } from 'node:path'

export default async function* reporter(source) {
  let passed = 0
  let failed = 0
  const failures = []
  const notRun = []
  const files = new Map()
  for await (const event of source) {
    if (event.type === 'test:stdout') notRun.push(...notRunLines(event.data.message))
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { data } = event
    if (data.details?.type === 'suite') continue
    const file = data.file === undefined ? '?' : relative(process.cwd(), data.file)
    // A file that could not even be run is reported as a test that bears the file's own name.
    const isFailed =
      event.type === 'test:fail' || data.skip !== undefined || data.todo !== undefined
    const counts = files.get(file) ?? { passed: 0, failed: 0, durationMs: 0 }
    files.set(file, counts)
    if (data.nesting === 0) counts.durationMs += data.details?.duration_ms ?? 0
    if (isFailed) {
      failed++
      counts.failed++
      failures.push({ file, data })
      yield `not ok: ${file}: ${data.name}${data.skip === undefined ? '' : ' (skipped)'}\n`
    } else {
      passed++
      counts.passed++
    }
  }
  yield '\n'
  for (const [file, counts] of [...files].sort(([left], [right]) => (left < right ? -1 : 1))) {
    const seconds = (counts.durationMs / 1000).toFixed(1)
    yield `${counts.failed === 0 ? 'ok' : 'NOT OK'} ${file}: ${counts.passed} passed, ${counts.failed} failed (${seconds} s)\n`
  }
  for (const { file, data } of failures) {
    const error = data.details?.error
    const cause = error?.cause ?? error
    yield `\n--- ${file}: ${data.name}\n${cause?.stack ?? cause?.message ?? String(cause ?? data.skip)}\n`
  }
  for (const line of notRun) yield `\n${line}\n`
  yield `\n${passed} passed, ${failed} failed\n`
}

/** What a test file says it could not run on this machine, and why. */
function notRunLines(text) {
  return text.split('\n').filter((line) => line.startsWith('not run: '))
}
