import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareLookups, type Resolve } from './checked-lookup.ts'

type Done = Parameters<Resolve>[1]

const address = { address: '192.0.2.1', family: 4 }

test('a name is looked up once for all that wait for it, and anew for those that follow', () => {
  const asked: { readonly host: string; readonly done: Done }[] = []
  const resolve = shareLookups((host, done) => void asked.push({ host, done }))
  const results: string[] = []
  const ask = (host: string): void =>
    resolve(host, (error, addresses) => {
      results.push(`${host} ${error?.message ?? addresses[0]?.address ?? 'none'}`)
    })
  for (const host of ['slow.example', 'slow.example', 'other.example', 'slow.example']) ask(host)
  assert.deepEqual(
    asked.map(({ host }) => host),
    ['slow.example', 'other.example'],
  )
  asked[1]?.done(null, [address])
  assert.deepEqual(results, ['other.example 192.0.2.1'])
  asked[0]?.done(new Error('no answer'), [])
  assert.deepEqual(results.slice(1), Array(3).fill('slow.example no answer'))
  ask('slow.example')
  asked[2]?.done(null, [address])
  assert.equal(results.at(-1), 'slow.example 192.0.2.1')
})
