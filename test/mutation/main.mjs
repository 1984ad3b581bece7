/**
 * Changes the sources of each group in thousands of ways, one at a time, and counts the changes that a
 * unit test of the group sees. Fails where a group's score is too low, where a change that no test sees
 * has no reason in `reasons.json`, and where a reason there fits no such change. See docs/mutation.md.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { groups } from './groups.mjs'

const root = join(import.meta.dirname, '..', '..')
const scoreMin = 85
const needed = ['src/**', 'sandbox/**', 'test/{support,transcripts,formats}/**', 'package.json']
/** In each: more would only wait for each other on a usual machine. */
const processes = 2
/** Modules that were loaded anew stay in memory until their process ends. */
const changesPerProcess = 300

const words = process.argv.slice(2)
const only = words.find((word) => word.startsWith('--only='))?.slice('--only='.length)
const isWritten = words.includes('--write')
/** Reports the last result of each group again, after reasons were written. */
const isLast = words.includes('--last')
const reasons = JSON.parse(readFileSync(join(import.meta.dirname, 'reasons.json'), 'utf8')).map(
  (entry) => ({ ...entry, used: new Set() }),
)

/** `--only` is a group, or one source file of a group. */
const chosen = Object.entries(groups)
  .filter(([name, { sources }]) => only === undefined || only === name || sources.includes(only))
  .map(([name, group]) => [name, sources(group, only)])
if (chosen.length === 0) fail(`--only is one of ${Object.keys(groups).join(', ')}, or a source`)
for (const [name, group] of chosen) report(name, group, await resultOf(name, group))

function sources(group, path) {
  return group.sources.includes(path) ? { ...group, sources: [path], isPart: true } : group
}

async function resultOf(name, group) {
  const path = join(root, '.cache', `mutation-${name}.json`)
  if (isLast) return JSON.parse(readFileSync(path, 'utf8'))
  const result = await measure(group)
  mkdirSync(join(root, '.cache'), { recursive: true })
  if (!group.isPart) writeFileSync(path, JSON.stringify(result))
  return result
}

async function measure({ sources: mutate, tests, slow = [] }) {
  const startedSeconds = cpuSeconds()
  const stryker = new Stryker({
    plugins: [import.meta.resolve('./runner.mjs'), import.meta.resolve('./people.mjs')],
    testRunner: 'unit tests',
    unitTests: tests,
    slowTests: slow,
    mutate,
    ignorers: ['people'],
    // The unit tests need these; Node runs TypeScript without checking it.
    ignorePatterns: ['*', ...needed.map((name) => `!${name}`), 'node_modules'],
    disableTypeChecks: false,
    reporters: ['progress-append-only'],
    concurrency: processes,
    maxTestRunnerReuse: changesPerProcess,
    tempDirName: '.cache/mutation',
    cleanTempDir: 'always',
  })
  const mutants = await stryker.runMutationTest()
  return { mutants, seconds: cpuSeconds() - startedSeconds }
}

/** Of this process and of those that it has started; undefined where the system does not say. */
function cpuSeconds() {
  const [, , ...fields] = readFileSync('/proc/self/stat', 'utf8').split(/\) |\s/)
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}

function report(name, { isPart = false }, { mutants, seconds }) {
  const counted = mutants.filter(({ status }) => status !== 'Ignored')
  const survivors = counted.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
  const seen = counted.length - survivors.length
  const score = (100 * seen) / counted.length
  const figures = `| ${counted.length} | ${seen} | ${score.toFixed(1)} % | ${(seconds / 60).toFixed(1)} min |`
  process.stdout.write(`${name}: ${figures}\n`)
  const explained = survivors.map((mutant) => explain(mutant))
  for (const { path, change, reason } of explained)
    if (reason === undefined) fail(`${path}: no test sees this, and it has no reason: ${change}`)
  if (isPart) return
  if (score < scoreMin) fail(`${name}: the score is below ${scoreMin} %`)
  for (const unused of unusedReasons(name)) fail(`reasons.json: ${unused} is no survivor`)
  if (isWritten && process.exitCode !== 1) write(name, figures, explained)
}

/** A reason names the line, or the line with what becomes of a part of it: `line | part ⇒ change`. */
function explain({ fileName, location, replacement }) {
  const path = relative(root, fileName)
  const lines = readFileSync(join(root, path), 'utf8').split('\n')
  const { start, end } = location
  const line = lines[start.line - 1]
  const part = line.slice(start.column - 1, start.line === end.line ? end.column - 1 : undefined)
  const place = line.trim()
  const change = `${place} | ${part} ⇒ ${replacement.replaceAll(/\s+/g, ' ')}`
  for (const { reason, survivors, used } of reasons)
    for (const named of survivors[path] ?? [])
      if (named === place || named === change) {
        used.add(`${path}: ${named}`)
        return { path, change, reason }
      }
  return { path, change }
}

function unusedReasons(name) {
  const measured = new Set(groups[name].sources)
  return reasons.flatMap(({ survivors, used }) =>
    Object.entries(survivors)
      .filter(([path]) => measured.has(path))
      .flatMap(([path, places]) => places.map((place) => `${path}: ${place}`))
      .filter((place) => !used.has(place)),
  )
}

function write(name, figures, explained) {
  const page = join(root, 'docs/mutation.md')
  const lines = ['| Changes | Seen | Score | CPU time |', '| --- | --- | --- | --- |', figures, '']
  for (const [reason, places] of Map.groupBy(explained, (survivor) => survivor.reason)) {
    lines.push(`**${reason}**`, '')
    for (const { path, change } of places) lines.push(`- ${path}: ${asCode(change)}`)
    lines.push('')
  }
  const between = new RegExp(`(<!-- ${name}: begin -->)[^]*(<!-- ${name}: end -->)`)
  const text = readFileSync(page, 'utf8')
  writeFileSync(
    page,
    text.replace(between, (_, begin, end) => `${begin}\n\n${lines.join('\n')}\n${end}`),
  )
}

function asCode(text) {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 1
}
