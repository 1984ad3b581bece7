/** Headers of a head that is being written, as a flat list of names and values. */
import assert from 'node:assert/strict'
import type { HeadLines } from '../../src/http/wire/head-lines.ts'
import { parseFields } from '../../src/http/wire/fields.ts'

export function flatOf({ text, isValid }: HeadLines): string[] {
  const fields = parseFields(text, 0, Infinity)
  assert.ok(isValid && typeof fields !== 'string')
  return fields.flat()
}
