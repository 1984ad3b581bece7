/** The rows fit together: ids, paths, fields and examples. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import { refusalOfInput } from './operation.ts'
import { allFiles, allRows } from './all-endpoints.ts'

const rows = allRows.map((row) => ({
  ...row,
  fields: Object.keys(inputOf(row).shape),
  input: inputOf(row),
  pathFields: [...row.path.matchAll(/{(\w+)}/g)].map(([, field]) => String(field)),
}))

function inputOf(row: (typeof allRows)[number]): z.ZodObject {
  if ('feed' in row) return row.feed
  if ('session' in row) return row.input
  if ('file' in row) return row.file.input
  return 'stream' in row ? row.stream.input : row.operation.input
}

test('there are rows, each with an id and a route of its own', () => {
  assert.ok(rows.length >= 30)
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length)
  const routes = rows.map(({ method, path }) => `${method} ${path.replaceAll(/{\w+}/g, '{}')}`)
  assert.equal(new Set(routes).size, rows.length)
})

test('path, query and fixed fields are fields of the operation', () => {
  for (const { id, fields, pathFields, fixed = {}, query = [] } of rows)
    for (const field of [...pathFields, ...query, ...Object.keys(fixed)])
      assert.ok(fields.includes(field), `${id} has no field ${field}`)
})

test('each example is a valid input', () => {
  for (const { id, input, example, fixed } of rows) {
    const parsed = input.safeParse({ ...example, ...fixed })
    assert.ok(parsed.success, `${id}: ${parsed.error?.message}`)
  }
})

test('reading needs the role viewer, and viewers change only their own sessions', () => {
  const shared = rows.filter((row) => !('file' in row))
  // Its search is in the body, so that no address has it.
  const reads = new Set(['keys.find', 'search.find'])
  for (const { id, method, role } of shared) {
    const isRead = method === 'GET' || reads.has(id)
    assert.equal(isRead || /^sessions?\./.test(id), role === 'viewer', id)
  }
})

test('a file has everything that is in the store, so only owners get one', () => {
  assert.ok(allFiles.length > 0)
  for (const { id, role } of allFiles) assert.equal(role, 'owner', id)
})

test('a wrong field is refused in our words, not in those of the library', () => {
  const library = /^(Invalid|Too|Unrecognized|Required|Expected)\b/
  for (const { id, fields, input } of rows)
    for (const wrong of [undefined, null, true, -1, 1.5, '', ' ', 'no such', {}, [{}]]) {
      const given = Object.fromEntries(fields.map((field) => [field, wrong]))
      for (const { field, message } of refusalOfInput(input, given)?.fields ?? [])
        assert.doesNotMatch(message, library, `${id} ${field}`)
    }
})
