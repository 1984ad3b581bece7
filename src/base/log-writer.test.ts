/**
 * The log's writer over a sink that takes, refuses or hangs as a test says, by a clock that stands
 * still: nothing is out of order, nothing beyond the bound is kept, what is lost is told.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { LogWriter, type LogSink } from './log-writer.ts'

const bound = 1_048_576

/** Answers a write only when told to: with room for some bytes, or with an error of this code. */
class ScriptedSink implements LogSink {
  text = ''
  #room = 0
  #code: string | undefined
  #pending: (() => void) | undefined

  write(bytes: Buffer, done: (error: Error | null, writtenBytes: number) => void): void {
    assert.equal(this.#pending, undefined, 'one write at a time')
    this.#pending = () => {
      if (this.#code !== undefined) done(faultOf(this.#code), 0)
      else done(null, this.#take(bytes))
    }
  }

  writeNow(bytes: Buffer): number {
    if (this.#code !== undefined) throw faultOf(this.#code)
    return this.#take(bytes)
  }

  /** Answers as long as it is asked, at most so many times. */
  answer(how: { readonly code: string } | { readonly room: number }, timesMax = 1_000): void {
    this.#code = 'code' in how ? how.code : undefined
    this.#room = 'room' in how ? how.room : 0
    for (let times = 0; times < timesMax && this.#pending !== undefined; times++) {
      const pending = this.#pending
      this.#pending = undefined
      pending()
    }
  }

  get isAsked(): boolean {
    return this.#pending !== undefined
  }

  #take(bytes: Buffer): number {
    const taken = bytes.subarray(0, this.#room)
    this.text += taken.toString()
    return taken.length
  }
}

function faultOf(code: string): Error {
  return Object.assign(new Error('scripted'), { code })
}

function open() {
  const clock = new ManualClock()
  const sink = new ScriptedSink()
  const writer = new LogWriter({
    sink,
    clock,
    onResumed: (count) => writer.write(`lost ${count}\n`),
  })
  return { clock, sink, writer }
}

function linesOf(count: number, length = 100): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${index} `.padEnd(length - 1, 'x') + '\n')
}

describe('the writer of the log', () => {
  it('gathers a few lines for a moment and many into one block', () => {
    const { clock, sink, writer } = open()
    writer.write('one\n')
    writer.write('two\n')
    assert.ok(!sink.isAsked)
    clock.advance(500)
    sink.answer({ room: bound })
    assert.equal(sink.text, 'one\ntwo\n')
    for (const line of linesOf(41)) writer.write(line)
    assert.ok(sink.isAsked, '4 KB do not wait')
  })

  it('goes on where a short write or a refusal stopped, and loses nothing within its bound', () => {
    const { clock, sink, writer } = open()
    const lines = linesOf(100)
    for (const line of lines.slice(0, 50)) writer.write(line)
    sink.answer({ room: 33 }, 5)
    sink.answer({ code: 'ENOSPC' })
    for (const line of lines.slice(50)) writer.write(line)
    for (const code of ['ENOSPC', 'EAGAIN', 'EIO']) {
      clock.advance(20)
      sink.answer({ code })
    }
    clock.advance(500)
    sink.answer({ room: 33 })
    clock.advance(500)
    sink.answer({ room: 33 })
    assert.equal(sink.text, lines.join(''))
    assert.equal(writer.droppedCount, 0)
  })

  it('writes a line that came while others could not be written, though no more follow', () => {
    const { clock, sink, writer } = open()
    writer.write('one\n')
    clock.advance(500)
    writer.write('two\n')
    clock.advance(500)
    sink.answer({ room: bound })
    clock.advance(500)
    sink.answer({ room: bound })
    assert.equal(sink.text, 'one\ntwo\n')
  })

  it('keeps no more than its bound, counts the rest, and says how many once it can', () => {
    const { clock, sink, writer } = open()
    const lines = linesOf(1_100, 1_000)
    for (const line of lines) writer.write(line)
    sink.answer({ code: 'ENOSPC' })
    const kept = Math.floor(bound / 1_000)
    assert.equal(writer.droppedCount, lines.length - kept)
    clock.advance(20)
    sink.answer({ room: bound })
    clock.advance(500)
    sink.answer({ room: bound })
    const dropped = lines.length - kept
    assert.equal(sink.text, lines.slice(0, kept).join('') + `lost ${dropped}\n`)
  })

  it('ends with its reader, and counts what nobody reads', () => {
    const { clock, sink, writer } = open()
    for (const line of linesOf(50)) writer.write(line)
    sink.answer({ code: 'EPIPE' })
    writer.write('one more\n')
    clock.advance(10_000)
    assert.ok(!sink.isAsked)
    assert.equal(writer.droppedCount, 51)
    assert.equal(clock.pendingCount, 0)
  })

  it('writes what waits before it closes, behind what is on its way', async () => {
    const { sink, writer } = open()
    const lines = linesOf(60)
    for (const line of lines) writer.write(line)
    const closed = writer.close()
    sink.answer({ room: bound })
    await closed
    assert.equal(sink.text, lines.join(''))
  })

  it('closes though nothing can be written', async () => {
    for (const code of ['EAGAIN', 'ENOSPC', 'EPIPE']) {
      const { sink, writer } = open()
      for (const line of linesOf(60)) writer.write(line)
      const closed = writer.close()
      sink.answer({ code })
      await closed
      assert.equal(sink.text, '')
    }
    const { clock, sink, writer } = open()
    for (const line of linesOf(60)) writer.write(line)
    const closed = writer.close()
    sink.answer({ code: 'EIO' }, 0)
    clock.advance(500)
    await closed
    assert.ok(sink.isAsked, 'the write that hangs is left alone')
  })
})
