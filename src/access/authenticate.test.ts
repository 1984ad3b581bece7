import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { fieldsOf } from '../http/wire/fields.ts'
import { presentedSecret, unusableSecret } from './authenticate.ts'

describe('the presented secret', () => {
  const same = ['Authorization', 'Bearer cr_x', 'x-api-key', 'cr_x']

  it('is found in each header, in any spelling of name and scheme', () => {
    for (const headers of [
      ['Authorization', 'Bearer cr_x'],
      ['AUTHORIZATION', 'bearer   cr_x'],
      ['authorization', 'BEARER cr_x'],
      ['X-API-Key', 'cr_x'],
      ['Api-Key', 'cr_x'],
      ['api-key', 'cr_x', 'x-api-key', 'cr_x'],
      same,
      ['x-api-key', 'cr_x', 'host', 'h', 'x-api-key', 'cr_x'],
      ['authorization', '', 'x-api-key', 'cr_x'],
      ['x-api-key', '', 'authorization', 'Bearer cr_x'],
      ['authorization', 'Bearer', 'x-api-key', 'cr_x'],
      ['x-api-key', 'cr_x', 'authorization', 'bearer  '],
    ]) {
      assert.equal(presentedSecret(fieldsOf(headers)), 'cr_x', headers.join())
    }
  })

  it('is absent where no header has one', () => {
    for (const headers of [
      [],
      ['host', 'cr_x', 'x-api-keys', 'cr_x', 'a-api-key', 'cr_x'],
      ['authorization', 'Bearer', 'x-api-key', '', 'api-key', ''],
    ]) {
      assert.equal(presentedSecret(fieldsOf(headers)), undefined, headers.join())
    }
  })

  it('is unusable where headers are malformed or different', () => {
    for (const headers of [
      ['authorization', 'cr_x'],
      ['authorization', 'Basic cr_x'],
      ['authorization', 'Bearer cr_x cr_x'],
      ['authorization', 'Bearer cr_x', 'x-api-key', 'cr_y'],
      ['authorization', 'Basic cr_x', 'x-api-key', 'cr_x'],
      ['x-api-key', 'cr_x', 'x-api-key', 'cr_y'],
      ['api-key', 'cr_x', 'x-api-key', 'cr_y'],
      ['authorization', 'Bearer cr_x', 'authorization', 'Bearer cr_y'],
    ]) {
      assert.equal(presentedSecret(fieldsOf(headers)), unusableSecret, headers.join())
    }
  })

  it('never comes from headers that disagree, however they are mixed', () => {
    const credential = fc.constantFrom(
      ['Authorization', 'Bearer cr_a'],
      ['authorization', 'bearer cr_b'],
      ['X-Api-Key', 'cr_a'],
      ['x-api-key', 'cr_b'],
      ['Api-Key', 'cr_b'],
    )
    fc.assert(
      fc.property(fc.array(credential, { minLength: 1, maxLength: 5 }), (headers) => {
        const values = new Set(headers.map(([, value]) => value?.slice(-4)))
        const found = presentedSecret(fieldsOf(headers.flat()))
        assert.equal(found, values.size === 1 ? [...values][0] : unusableSecret)
      }),
    )
  })
})
