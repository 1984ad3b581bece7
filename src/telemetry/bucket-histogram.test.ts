/** Histograms counted by the gateway: the library itself says how their text and JSON must look. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Histogram, Registry } from 'prom-client'
import { BucketHistogram } from './bucket-histogram.ts'

const bounds = [0.5, 1, 10]

function both(labelNames: readonly string[]) {
  const registries = [new Registry(), new Registry()] as const
  const config = { name: 'seconds', help: 'Durations.', labelNames, buckets: bounds }
  return {
    own: new BucketHistogram({ ...config, registers: [registries[0]] }),
    usual: new Histogram({ ...config, registers: [registries[1]] }),
    assertSame: async () => {
      const [own, usual] = await Promise.all(registries.map((one) => one.metrics()))
      assert.equal(own, usual)
      const [ownJson, usualJson] = await Promise.all(registries.map(jsonOf))
      assert.deepEqual(ownJson, usualJson)
    },
  }
}

/** Without the exemplars, which no program asks for. */
async function jsonOf(registry: Registry): Promise<unknown> {
  const text = JSON.stringify(await registry.getMetricsAsJSON())
  return JSON.parse(text, (name, value: unknown) => (name === 'exemplar' ? undefined : value))
}

test('property: shows the same as a histogram of the library', async () => {
  const label = fc.constantFrom('main', 'a "quoted" one', '')
  const sample = fc.oneof(fc.constantFrom(0, ...bounds), fc.integer({ min: 0, max: 12 }))
  const samples = fc.array(fc.tuple(sample, label, label))
  await fc.assert(
    fc.asyncProperty(samples, async (taken) => {
      const { own, usual, assertSame } = both(['channel', 'model'])
      for (const [value, channel, model] of taken) {
        own.add(value, channel, model)
        usual.observe({ channel, model }, value)
      }
      await assertSame()
    }),
  )
})

test('without labels, shows zeros before the first sample', async () => {
  const { own, usual, assertSame } = both([])
  await assertSame()
  own.add(2)
  usual.observe(2)
  await assertSame()
})
