/**
 * Runs unit tests for Stryker, thousands of times within one process: a process for each change would
 * take many times as long. What a module keeps could carry the effect of one change to the next, so a
 * result is believed only where it is confirmed: a test that fails with the change must pass without it,
 * and a change that no test has seen is tried again on modules that are loaded anew.
 */
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin'
import {
  determineHitLimitReached,
  DryRunStatus,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner'
import { runTest, takeDeclared } from './harness.mjs'

/** The code that Stryker has changed reads it, and keeps this very object. */
const switches = (globalThis.__stryker__ ??= {})
const harness = import.meta.resolve('./harness.mjs')

class UnitTestRunner {
  static inject = tokens(commonTokens.options)
  #files
  /** Parts of the titles of tests that are left out. */
  #slow
  #tests = []
  #after = []
  #loadCount = 0
  /** Whether the loaded modules may still have the effect of a change. */
  #isUsed = true
  #strayError
  /** Test → how long it last took. */
  #spentMs = new Map()

  constructor({ unitTests, slowTests }) {
    this.#files = unitTests.map((path) => pathToFileURL(resolve(path)).href)
    this.#slow = slowTests
  }

  capabilities() {
    return { reloadEnvironment: true }
  }

  init() {
    this.#hookModules(pathToFileURL(`${process.cwd()}/`).href)
    for (const event of ['unhandledRejection', 'uncaughtException'])
      process.on(event, (error) => (this.#strayError = error ?? new Error(event)))
  }

  async dispose() {
    for (const work of this.#after) await work()
  }

  async dryRun() {
    await this.#load()
    const results = []
    for (const test of this.#tests) {
      switches.currentTestId = test.id
      results.push(await this.#run(test))
      switches.currentTestId = undefined
    }
    return {
      status: DryRunStatus.Complete,
      tests: results,
      mutantCoverage: switches.mutantCoverage,
    }
  }

  async mutantRun({ activeMutant, testFilter, hitLimit, mutantActivation }) {
    const attempt = { id: activeMutant.id, testFilter, hitLimit }
    const isStatic = mutantActivation === 'static'
    const isFresh = isStatic || this.#isUsed === 'by a failure'
    const first = await this.#attempt(attempt, isFresh)
    const result =
      isFresh || (await this.#isConfirmed(first)) ? first : await this.#attempt(attempt, true)
    this.#isUsed = isStatic || result.isLimitReached ? 'by a failure' : true
    return result.isLimitReached
      ? determineHitLimitReached(Infinity, hitLimit)
      : toMutantRunResult({ status: DryRunStatus.Complete, tests: result.tests })
  }

  async #isConfirmed({ tests, isLimitReached }) {
    const last = tests.at(-1)
    if (isLimitReached || last?.status !== TestStatus.Failed) return isLimitReached
    const test = this.#tests.find(({ id }) => id === last.id)
    return (await this.#run(test)).status === TestStatus.Success
  }

  /** Runs tests with one change until one fails. */
  async #attempt({ id, testFilter, hitLimit }, isFresh) {
    switches.activeMutant = id
    switches.hitCount = hitLimit === undefined ? undefined : 0
    switches.hitLimit = hitLimit
    const tests = []
    try {
      if (isFresh) await this.#load()
      for (const test of this.#quickestFirst(testFilter)) {
        tests.push(await this.#run(test))
        if (tests.at(-1).status === TestStatus.Failed) break
      }
    } catch (error) {
      tests.push(failed({ id: 'loading', title: 'loading' }, error))
    }
    switches.activeMutant = undefined
    return { tests, isLimitReached: hitLimit !== undefined && switches.hitCount > hitLimit }
  }

  #quickestFirst(wanted) {
    const chosen = this.#tests.filter(({ id }) => wanted === undefined || wanted.includes(id))
    const spent = ({ id }) => this.#spentMs.get(id) ?? 0
    return chosen.toSorted((left, right) => spent(left) - spent(right))
  }

  async #run(test) {
    this.#strayError = undefined
    const startedMs = performance.now()
    const error = (await runTest(test)) ?? this.#strayError
    if (error !== undefined) return failed(test, error)
    const timeSpentMs = performance.now() - startedMs
    this.#spentMs.set(test.id, timeSpentMs)
    return { id: test.id, name: test.id, timeSpentMs, status: TestStatus.Success }
  }

  async #load() {
    await this.dispose()
    this.#loadCount += 1
    this.#tests = []
    this.#after = []
    takeDeclared()
    for (const file of this.#files) {
      await import(file)
      const { tests, before, after } = takeDeclared()
      for (const work of before) await work()
      this.#after.push(...after)
      for (const test of tests.filter(({ title }) => !this.#isSlow(title)))
        this.#tests.push({ ...test, id: `${this.#tests.length} ${test.title}` })
    }
  }

  #isSlow(title) {
    return this.#slow.some((part) => title.includes(part))
  }

  /** Gives tests and sources another address with each load, and the tests the harness. */
  #hookModules(root) {
    const isOwn = (url) =>
      url?.startsWith(root) && !url.includes('/node_modules/') && !url.includes('.json')
    const sources = new Map()
    registerHooks({
      resolve: (specifier, context, next) => {
        if (specifier === 'node:test' && isOwn(context.parentURL))
          return { url: harness, format: 'module', shortCircuit: true }
        const found = next(specifier, context)
        return isOwn(found.url) ? { ...found, url: `${found.url}?${this.#loadCount}` } : found
      },
      load: (url, context, next) => {
        if (!isOwn(url)) return next(url, context)
        const path = fileURLToPath(url)
        if (!sources.has(path)) sources.set(path, stripTypeScriptTypes(readFileSync(path, 'utf8')))
        return { format: 'module', source: sources.get(path), shortCircuit: true }
      },
    })
  }
}

function failed({ id }, error) {
  const failureMessage = String(error?.message ?? error).slice(0, 300)
  return { id, name: id, timeSpentMs: 0, status: TestStatus.Failed, failureMessage }
}

export const strykerPlugins = [
  declareClassPlugin(PluginKind.TestRunner, 'unit tests', UnitTestRunner),
]
export const strykerValidationSchema = {
  properties: {
    unitTests: { type: 'array', items: { type: 'string' } },
    slowTests: { type: 'array', items: { type: 'string' } },
  },
}
