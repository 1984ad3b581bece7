import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitnessNow, lastingService, serviceOf, serviceOfVendor } from './service.ts'

type Place = Parameters<typeof lastingService>[0][number]

function lasting(...places: readonly (readonly [rank: number, mode: Place['mode']])[]) {
  return lastingService(places.map(([rank, mode]) => ({ rank, mode, why: 'errors' })))
}

test('a model is served by its main route, by a reserve, or by none', () => {
  assert.equal(lasting([0, 'on'], [1, 'off']), 'main')
  assert.equal(lasting([3, 'ramp'], [4, 'on']), 'main', 'the lowest rank is the main one')
  assert.equal(lasting([0, 'off'], [0, 'on'], [1, 'off']), 'main')
  assert.equal(lasting([0, 'trial'], [1, 'on']), 'reserve')
  assert.equal(
    lasting([0, 'slow']),
    'reserve',
    'a slow main channel serves where nothing else does',
  )
  assert.equal(lasting([0, 'disabled'], [1, 'off']), 'none')
  assert.equal(lasting(), 'none')
})

test('nothing is known of a model whose channels wait for a first probe after a restart', () => {
  const waiting = { rank: 0, mode: 'trial', why: 'restarted' } as const
  assert.equal(lastingService([waiting]), undefined)
  assert.equal(lastingService([waiting, { rank: 1, mode: 'on', why: 'start' }]), 'reserve')
  assert.equal(lastingService([{ ...waiting, mode: 'disabled' }]), 'none')
})

test('a channel that rests, is in doubt or on trial serves at this moment as a reserve does', () => {
  for (const grade of ['resting', 'doubted', 'trial', 'slow'] as const)
    assert.equal(serviceOf([{ rank: 0, fitness: fitnessNow(grade) }]), 'reserve')
  for (const grade of ['on', 'ramp'] as const)
    assert.equal(serviceOf([{ rank: 0, fitness: fitnessNow(grade) }]), 'main')
  for (const grade of ['off', 'disabled'] as const)
    assert.equal(serviceOf([{ rank: 0, fitness: fitnessNow(grade) }]), 'none')
})

test('a vendor is served by its main route only where all of its models are', () => {
  assert.equal(serviceOfVendor(['main', 'main']), 'main')
  assert.equal(serviceOfVendor(['main', 'none']), 'reserve')
  assert.equal(serviceOfVendor(['none', 'none']), 'none')
  assert.equal(serviceOfVendor([]), 'none')
})
