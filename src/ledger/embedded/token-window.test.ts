import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { TokenWindow } from './token-window.ts'

describe('the token window', () => {
  it('counts and waits as a plain list does', () => {
    const step = fc.record({ waitMs: fc.nat(20_000), tokens: fc.nat(50), limit: fc.nat(120) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const window = new TokenWindow()
        const list: { readonly second: number; readonly tokens: number }[] = []
        const countAt = (ms: number): number =>
          list
            .filter(({ second }) => second > Math.floor(ms / 1_000) - 60)
            .reduce((total, { tokens }) => total + tokens, 0)
        let now = 0
        for (const { waitMs, tokens, limit } of steps) {
          now += waitMs
          window.add(now, tokens)
          list.push({ second: Math.floor(now / 1_000), tokens })
          assert.equal(window.countAt(now), countAt(now))
          if (countAt(now) < limit || limit === 0) continue
          const waitedMs = window.waitMs(limit, now)
          assert.ok(waitedMs > 0 && waitedMs <= 60_000)
          assert.ok(countAt(now + waitedMs) < limit, 'then fewer tokens count')
          assert.ok(countAt(now + waitedMs - 1) >= limit, 'and not before')
        }
      }),
    )
  })
})
