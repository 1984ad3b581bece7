import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSection, rulesTable, withoutPadding } from './rules-page.ts'

test('docs/reliability.md prints the table of rules as the code has it', () => {
  const hint = 'run npm run test:sim -- --write --only=calm'
  assert.equal(withoutPadding(readSection('rules')), withoutPadding(rulesTable()), hint)
})
