/** Ends of runs in texts of any length, as a plain loop finds them, and the module that its source says. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as fc from 'fast-check'
import openWabt from 'wabt'
import { moduleBase64, RunEnds } from './run-ends.ts'

interface Found {
  readonly at: number
  /** Escapes of two bytes before it. */
  readonly escapes: number
}

/** Reads on behind an escape that is found, and `gap` further where nothing between can be an escape. */
function behind(bytes: Uint8Array, at: number, gap = 0): number {
  const next = at + (bytes[at] === 0x5c ? 2 : 1)
  return bytes.subarray(next, next + gap).includes(0x5c) ? next : next + gap
}

function findAll(bytes: Uint8Array, gaps: readonly number[] = [0]): Found[] {
  const ends = new RunEnds(bytes)
  const found: Found[] = []
  let at = ends.next(0)
  for (let turn = 0; at < bytes.length; turn++) {
    found.push({ at, escapes: ends.escapeCount })
    at = ends.next(behind(bytes, at, gaps[turn % gaps.length]))
  }
  return [...found, { at: bytes.length, escapes: ends.escapeCount }]
}

function expected(bytes: Uint8Array, gaps: readonly number[] = [0]): Found[] {
  const found: Found[] = []
  let escapes = 0
  for (let at = 0; at < bytes.length;) {
    const code = bytes[at] ?? 0
    if (code === 0x5c && '"\\/bfnrt'.includes(String.fromCharCode(bytes[at + 1] ?? 0))) {
      escapes++
      at += 2
    } else if (code === 0x22 || code === 0x5c || code < 0x20) {
      found.push({ at, escapes })
      at = behind(bytes, at, gaps[(found.length - 1) % gaps.length])
    } else at++
  }
  return [...found, { at: bytes.length, escapes }]
}

/** Around the length from which the module is used, and around its blocks. */
const lengths = [0, 1, 15, 16, 17, 511, 512, 513, 529, 65_535, 65_536, 65_537, 131_073]

test('finds every end in texts of any length', () => {
  for (const length of lengths) {
    for (const fill of ['a', '"', '\\', '\\n', '\\"', '\\u', 'a\\\\', '\n', '\xff']) {
      const bytes = Buffer.alloc(length, fill, 'latin1')
      assert.deepEqual(findAll(bytes), expected(bytes), `${length} times ${JSON.stringify(fill)}`)
    }
    for (const at of [0, length >> 1, length - 1].filter((one) => one >= 0 && one < length)) {
      const bytes = Buffer.alloc(length, 0x7f)
      bytes[at] = 0x1f
      assert.equal(findAll(bytes)[0]?.at, at, `${length}, at ${at}`)
    }
  }
})

test('knows every byte that can stand behind a backslash', () => {
  for (const padding of ['', 'x'.repeat(600)])
    for (let code = 0; code < 256; code++) {
      const bytes = Buffer.from(`\\${String.fromCharCode(code)}"${padding}`, 'latin1')
      assert.deepEqual(findAll(bytes), expected(bytes), String(code))
    }
})

test('finds the ends in random bytes, with any gaps between', () => {
  const code = fc.oneof(
    { weight: 20, arbitrary: fc.nat(255) },
    fc.constantFrom(0x22, 0x5c, 0x1f, 0x20, 0x6e, 0x75),
  )
  const gaps = fc.array(fc.nat(700), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(fc.array(code, { maxLength: 2_000 }), gaps, fc.nat(70_000), (codes, jumps, gap) => {
      const piece = Buffer.from(codes)
      const bytes = Buffer.concat([piece, Buffer.alloc(gap, 'x'), piece, piece])
      assert.deepEqual(findAll(bytes), expected(bytes))
      assert.deepEqual(findAll(bytes, jumps), expected(bytes, jumps))
    }),
    { numRuns: 60 },
  )
})

test('two texts that are read in turn do not disturb each other', () => {
  const texts = ['a\\nb"', 'abcdefg\\u'].map((piece) => Buffer.from(piece.repeat(30_000)))
  const readers = texts.map((text) => ({ text, ends: new RunEnds(text), found: [] as Found[] }))
  for (let count = 0; count < 5_000; count++)
    for (const { text, ends, found } of readers) {
      const last = found.at(-1)
      const at = ends.next(last === undefined ? 0 : behind(text, last.at))
      found.push({ at, escapes: ends.escapeCount })
    }
  for (const { text, found } of readers) assert.deepEqual(found, expected(text).slice(0, 5_000))
})

test('the module is what its source compiles to', async () => {
  const wabt = await openWabt()
  const source = readFileSync(new URL('run-ends.wat', import.meta.url), 'utf8')
  const { buffer } = wabt.parseWat('run-ends.wat', source, { simd: true }).toBinary({})
  assert.equal(Buffer.from(buffer).toString('base64'), moduleBase64)
})
