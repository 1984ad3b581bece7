/** References in the document of the admin API lead somewhere, and the page made from it loads nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildDocument } from '../../src/api/admin/openapi.ts'
import { pagePolicy, printReferencePage } from '../../src/api/admin/reference-page.ts'

test('each reference in the document leads somewhere', () => {
  const document = buildDocument()
  const text = JSON.stringify(document)
  for (const [, path] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    let place: unknown = document
    for (const name of String(path).split('/')) place = (place as Record<string, unknown>)[name]
    assert.notEqual(place, undefined, String(path))
  }
})

test('the page has every call, no script and no address of another origin', () => {
  const document = buildDocument()
  const page = printReferencePage(document)
  for (const path of Object.keys(document['paths'] as object)) assert.ok(page.includes(path), path)
  assert.doesNotMatch(page, /<script|<link|<img|src=|href="(?!#|openapi\.json)/)
  assert.match(pagePolicy, /^default-src 'none'; style-src 'sha256-/)
})
