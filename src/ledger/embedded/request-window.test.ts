import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { RequestWindow } from './request-window.ts'

describe('the request window', () => {
  it('keeps the same moments as a plain list', () => {
    const step = fc.record({ waitMs: fc.nat(50), adds: fc.nat(40), windowMs: fc.nat(120) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const window = new RequestWindow()
        let list: number[] = []
        let now = 0
        for (const { waitMs, adds, windowMs } of steps) {
          now += waitMs
          for (let added = 0; added < adds; added++) {
            window.add(now)
            list.push(now)
          }
          list = list.filter((moment) => moment > now - windowMs)
          assert.equal(window.dropUntil(now - windowMs), list.length)
          assert.deepEqual(
            list.map((_, index) => window.at(index)),
            list,
          )
        }
      }),
    )
  })
})
