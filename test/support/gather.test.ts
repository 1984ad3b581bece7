import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { gather } from './gather.ts'

describe('a stream that is gathered', () => {
  it('resolves every waiter, for text that has come and for text to come', async () => {
    const stream = new PassThrough()
    const gathered = gather(stream)
    const first = gathered.until(/b+/)
    const second = gathered.until(/c/)
    stream.write('abb')
    assert.equal(await first, 'bb')
    stream.write('c')
    assert.equal(await second, 'c')
    assert.equal(await gathered.until(/a/), 'a')
    assert.equal(gathered.text(), 'abbc')
  })

  it('tells who waits in vain at its end, and afterwards, what there was', async () => {
    const stream = new PassThrough()
    const gathered = gather(stream)
    const waiting = [gathered.until(/serving/), gathered.until(/ready/)]
    stream.end('a port is taken')
    for (const vain of waiting) await assert.rejects(vain, /did not come.*\na port is taken$/)
    await assert.rejects(gathered.until(/serving/), /a port is taken/)
    assert.equal(await gathered.until(/port/), 'port')
  })

  it('is over where it breaks off', async () => {
    const stream = new PassThrough()
    const waiting = gather(stream).until(/serving/)
    stream.destroy()
    await assert.rejects(waiting, /did not come/)
  })
})
