/**
 * In place of `node:test` while changes are measured: keeps the tests of a file, so that a process can
 * run each of them again and again. It has what unit tests use, and no more.
 */
import { mock } from 'node:test'

let file = newFile()
const titles = []

function newFile() {
  return { tests: [], before: [], after: [] }
}

/** Returns what the files that were loaded since the last call have declared. */
export function takeDeclared() {
  const declared = file
  file = newFile()
  return declared
}

export function test(title, ...rest) {
  file.tests.push({ title: [...titles, title].join(' › '), body: rest.at(-1) })
}

export const it = test

export function describe(title, ...rest) {
  titles.push(title)
  rest.at(-1)()
  titles.pop()
}

export function before(work) {
  file.before.push(work)
}

export function after(work) {
  file.after.push(work)
}

/** Resolves with the error of a test that has failed. */
export async function runTest({ title, body }) {
  const cleanups = []
  try {
    await body({ name: title, mock, after: (work) => cleanups.push(work) })
    return undefined
  } catch (error) {
    return error ?? new Error('the test has thrown nothing')
  } finally {
    mock.restoreAll()
    for (const work of cleanups) await work()
  }
}
