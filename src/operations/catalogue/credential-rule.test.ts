/** A catalogue over the network sends no secret of the host anywhere: as no credential, as no header. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { referenceMistake } from './credential-rule.ts'

const url = 'https://vendor.example'
const rule = { variables: ['LISTED'], folders: ['/run/listed'] }

test('a header over the API refers only to what the settings list', () => {
  const mistake = (reference: string) => referenceMistake(rule, { reference, url }, undefined)
  assert.equal(mistake('plain text'), undefined)
  assert.equal(mistake('env:LISTED'), undefined)
  assert.equal(mistake('file:/run/listed/workspace'), undefined)
  assert.match(mistake('env:HOME') ?? '', /only variables of api_credential_variables/)
  assert.match(mistake('file:/etc/passwd') ?? '', /only files in folders/)
  assert.match(mistake('file:/run/listed/../other') ?? '', /only files in folders/)
})

test('a header that the host has set stays with its address', () => {
  const stored = { url, headers: new Map([['x-workspace', 'env:HOST_ONLY']]), proxy: 'env:PROXY' }
  const given = { reference: 'env:HOST_ONLY', url }
  assert.equal(referenceMistake(rule, given, stored), undefined)
  assert.equal(referenceMistake(rule, { reference: 'env:PROXY', url }, stored), undefined)
  assert.match(
    referenceMistake(rule, { ...given, url: 'https://other.example' }, stored) ?? '',
    /only variables/,
  )
})
