/** The log as written to its descriptor: JSON lines, redacted by name, complete once closed. */
import assert from 'node:assert/strict'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, describe, it } from 'node:test'
import { createLog, LogWriter, type LogSink } from './log.ts'
import { Secret } from './secret.ts'
import { ManualClock } from '../../test/support/manual-clock.ts'

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-log-'))
})
after(() => rmSync(folder, { recursive: true }))

async function logLines(
  level: string,
  write: (logger: ReturnType<typeof createLog>['logger']) => void,
) {
  const path = join(folder, `${level}-${Math.random()}.log`)
  // Never closed: a log writes to its descriptor at intervals for as long as the process lives.
  const log = createLog({ level, descriptor: openSync(path, 'w') })
  write(log.logger)
  await log.close()
  const text = readFileSync(path, 'utf8')
  return { text, lines: text.trimEnd().split('\n').filter(Boolean) }
}

test('each line is one JSON object with its level as a word and its time', async () => {
  const { lines } = await logLines('info', (logger) => {
    logger.info({ exchangeId: 'ex_1' }, 'first')
    logger.debug('below the level')
    logger.error({ text: 'a\nb\u001b[31m\u2028' }, 'second')
  })
  assert.equal(lines.length, 2)
  const [first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.deepEqual(
    [first?.['level'], first?.['msg'], first?.['exchangeId']],
    ['info', 'first', 'ex_1'],
  )
  assert.match(String(first?.['time']), /^\d{4}-\d{2}-\d{2}T.*Z$/)
  assert.equal(second?.['level'], 'error')
  assert.ok(!lines.join('').includes('\u001b'), 'control characters are escaped')
})

test('redacts known names', async () => {
  const canary = 'canary-log'
  const names = ['authorization', 'credential', 'secret', 'token', 'body', 'headers', 'query']
  const { text } = await logLines('trace', (logger) => {
    for (const name of names) {
      logger.trace({ [name]: canary }, 'at the top')
      logger.trace({ request: { [name]: { inner: canary } } }, 'one below')
    }
    logger.trace({ anything: new Secret(canary) }, 'a secret under any name')
  })
  assert.ok(!text.includes(canary), text)
  assert.equal(text.match(/\*\*\*/g)?.length, names.length * 2 + 1)
})

const bound = 1_048_576

/** Answers a write only when told to: with room for some bytes, or with an error of this code. */
class ScriptedSink implements LogSink {
  text = ''
  /** What was asked to be written, one text for each call. */
  readonly blocks: string[] = []
  #room = 0
  #code: string | undefined
  #pending: (() => void) | undefined

  write(bytes: Buffer, done: (error: Error | null, writtenBytes: number) => void): void {
    assert.equal(this.#pending, undefined, 'one write at a time')
    this.blocks.push(bytes.toString())
    this.#pending = () => {
      if (this.#code !== undefined) done(faultOf(this.#code), 0)
      else done(null, this.#take(bytes))
    }
  }

  writeNow(bytes: Buffer): number {
    if (this.#code !== undefined) throw faultOf(this.#code)
    return this.#take(bytes)
  }

  /** Completes pending writes, at most so many. */
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
  it('gathers a few lines for a short time, and many into one block', () => {
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

  it('writes whole lines, at most 4 KiB at once, so that processes can share a pipe', () => {
    const { sink, writer } = open()
    for (const line of [...linesOf(100), ...linesOf(1, 5_000), ...linesOf(60)]) writer.write(line)
    sink.answer({ room: bound })
    assert.ok(sink.blocks.length > 3)
    for (const block of sink.blocks) {
      assert.ok(block.endsWith('\n'))
      assert.ok(block.length <= 4_096 || block.indexOf('\n') === block.length - 1)
    }
  })

  it('continues after a short write or an error, and loses nothing within its bound', () => {
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

  it('writes a line that came during a failure, also when no other line follows', () => {
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

  it('drops lines beyond its bound, counts them, and reports the count later', () => {
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

  it('stops when its reader has gone, and counts the lines', () => {
    const { clock, sink, writer } = open()
    for (const line of linesOf(50)) writer.write(line)
    sink.answer({ code: 'EPIPE' })
    writer.write('one more\n')
    clock.advance(10_000)
    assert.ok(!sink.isAsked)
    assert.equal(writer.droppedCount, 51)
    assert.equal(clock.pendingCount, 0)
  })

  it('writes what waits before it closes, after the block under way', async () => {
    const { sink, writer } = open()
    const lines = linesOf(60)
    for (const line of lines) writer.write(line)
    const closed = writer.close()
    sink.answer({ room: bound })
    await closed
    assert.equal(sink.text, lines.join(''))
  })

  it('closes although nothing can be written', async () => {
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
