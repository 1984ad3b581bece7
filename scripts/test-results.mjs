/**
 * Counts the results of all test runs of one command, prints failures as they come, and at the end how
 * long each part took, the slowest files, every failure in full, and the line `N passed, N failed`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './runtime.mjs'

const durationsPath = join(root, 'node_modules', '.cache', 'test-durations.json')
const slowestCount = 10

/** Reads how long each test file took when it last ran, in milliseconds by path. */
export function readDurations() {
  try {
    return JSON.parse(readFileSync(durationsPath, 'utf8'))
  } catch {
    // The first run has none, and a damaged file is written anew.
    return {}
  }
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}

function seconds(durationMs) {
  return `${(durationMs / 1000).toFixed(1)} s`
}

export class TestResults {
  #passed = 0
  #failed = 0
  #parts = []
  #files = new Map()
  #failures = []
  #notRun = new Set()
  #write

  constructor(write = (text) => process.stdout.write(text)) {
    this.#write = write
  }

  get failedCount() {
    return this.#failed
  }

  /** Notes a step that is no test run, such as the type check. */
  addStep({ name, code, output, durationMs }) {
    this.#parts.push({ name, durationMs, note: code === 0 ? 'passed' : 'FAILED' })
    if (code !== 0) {
      this.#failed++
      this.#write(output)
    }
    this.#write(`${name}: ${code === 0 ? 'passed' : 'FAILED'} (${seconds(durationMs)})\n`)
  }

  /**
   * Counts one test run. `part` names all its files; without it their folder does. `read` takes the
   * run's output in pieces; what the reporter has not written is passed on.
   */
  startRun(name, part) {
    const failedBefore = this.#failed
    let partial = ''
    return {
      read: (piece) => {
        const lines = (partial + piece).split('\n')
        partial = lines.pop() ?? ''
        for (const line of lines) {
          if (line.startsWith('{"testEvent":')) this.#add(JSON.parse(line).testEvent, part)
          else if (line !== '') this.#write(`${line}\n`)
        }
      },
      // A run that ends with an exit code although no test failed has failed itself.
      end: (code) => {
        if (code === 0 || this.#failed > failedBefore) return
        this.#fail(name, 'run', `the test run ended with exit code ${code}`)
      },
    }
  }

  #add(event, part) {
    if (event.kind === 'not run') {
      this.#notRun.add(event.line)
      return
    }
    const { file, name, durationMs, failure } = event
    const counts = this.#files.get(file) ?? {
      part: part ?? dirname(file),
      passed: 0,
      failed: 0,
      testsMs: 0,
    }
    this.#files.set(file, counts)
    if (event.kind === 'file') {
      counts.fileMs = durationMs
      return
    }
    counts.testsMs += durationMs
    if (failure !== undefined) {
      counts.failed++
      this.#fail(file, name, failure)
    } else if (event.kind === 'test') {
      counts.passed++
      this.#passed++
    }
  }

  #fail(file, name, failure) {
    this.#failed++
    this.#failures.push({ file, name, failure })
    this.#write(`not ok: ${file}: ${name}${failure === 'skipped' ? ' (skipped)' : ''}\n`)
  }

  /** `isEachFileShown`: with a line for every test file. */
  print({ wallMs, isEachFileShown }) {
    const files = [...this.#files].map(([file, { fileMs, testsMs, ...counts }]) => ({
      file,
      ...counts,
      durationMs: fileMs ?? testsMs,
    }))
    files.sort((left, right) => (left.file < right.file ? -1 : 1))
    this.#write('\n')
    for (const { file, passed, failed, durationMs } of isEachFileShown ? files : [])
      this.#write(
        `${failed === 0 ? 'ok' : 'NOT OK'} ${file}: ${passed} passed, ${failed} failed (${seconds(durationMs)})\n`,
      )
    this.#printParts(files)
    this.#printSlowest(files)
    for (const { file, name, failure } of this.#failures)
      this.#write(`\n--- ${file}: ${name}\n${failure}\n`)
    for (const line of this.#notRun) this.#write(`\n${line}\n`)
    this.#write(`\nTook ${seconds(wallMs)} in all.\n`)
    this.#write(`${this.#passed} passed, ${this.#failed} failed\n`)
    saveDurations(files)
  }

  /** Files run side by side, so the sum over a part is more than the time until it was over. */
  #printParts(files) {
    this.#write('\nHow long each part took:\n')
    for (const { name, durationMs, note } of this.#parts)
      this.#write(`${seconds(durationMs).padStart(10)}  ${name} (${note})\n`)
    for (const [name, members] of Map.groupBy(files, ({ part }) => part)) {
      const durationMs = sum(members.map((file) => file.durationMs))
      const tests = sum(members.map(({ passed, failed }) => passed + failed))
      this.#write(
        `${seconds(durationMs).padStart(10)}  ${name} (${tests} tests in ${members.length} files)\n`,
      )
    }
  }

  #printSlowest(files) {
    this.#write('\nThe slowest files:\n')
    const slowest = files.toSorted((left, right) => right.durationMs - left.durationMs)
    for (const { file, durationMs } of slowest.slice(0, slowestCount))
      this.#write(`${seconds(durationMs).padStart(10)}  ${file}\n`)
  }
}

function saveDurations(files) {
  const durations = readDurations()
  for (const { file, durationMs } of files) durations[file] = Math.round(durationMs)
  mkdirSync(dirname(durationsPath), { recursive: true })
  writeFileSync(durationsPath, JSON.stringify(durations))
}
