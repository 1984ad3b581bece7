import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeSecret } from '../access/key.ts'
import { fieldsOf } from '../http/wire/fields.ts'
import { findLabelFault, readLabel } from './label.ts'

const labelled = (...values: readonly string[]) =>
  fieldsOf(['host', 'a.example', ...values.flatMap((value) => ['X-Turnpike-Label', value])])

test('takes 1 to 64 printable ASCII characters as they come', () => {
  const labels = ['a', 'team a/b: "x", {y}', 'x'.repeat(64), 'sk-team', 'discord_bot', 'ad_hoc']
  for (const label of labels) {
    assert.equal(readLabel(labelled(label)), label)
    assert.equal(findLabelFault(labelled(label)), undefined)
  }
  assert.equal(readLabel(labelled()), '')
  assert.equal(findLabelFault(labelled()), undefined)
})

test('ignores any other, and says why', () => {
  const secrets = (['client', 'reader', 'admin'] as const).map((kind) => makeSecret(kind))
  const faults: readonly (readonly [fault: string, values: readonly string[]])[] = [
    ['repeated', ['a', 'b']],
    ['repeated', ['a', 'a']],
    ['empty', ['']],
    ['too_long', ['x'.repeat(65)]],
    ['not_ascii', ['caf\xe9']],
    ['not_ascii', ['tab\there']],
    ...secrets.map((secret) => ['secret', [secret]] as const),
    ...secrets.map((secret) => ['secret', [`key ${secret.slice(0, 40)}`]] as const),
    ['secret', ['sk-ant-api03-abcdefghijklmnop']],
  ]
  for (const [fault, values] of faults) {
    assert.equal(readLabel(labelled(...values)), '', values.join())
    assert.equal(findLabelFault(labelled(...values)), fault, values.join())
  }
})
