/** Ends of runs in texts of any length, as a plain loop finds them, and the module that its source says. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as fc from 'fast-check'
import openWabt from 'wabt'
import { moduleBase64, RunEnds } from './run-ends.ts'

function isEnd(code: number): boolean {
  return code === 0x22 || code === 0x5c || code < 0x20
}

function findAll(bytes: Uint8Array): number[] {
  const ends = new RunEnds(bytes)
  const found: number[] = []
  for (let at = ends.next(0); at < bytes.length; at = ends.next(at + 1)) found.push(at)
  return found
}

function expected(bytes: Uint8Array): number[] {
  return [...bytes.keys()].filter((at) => isEnd(bytes[at] ?? 0))
}

/** Around the length from which the module is used, and around its blocks. */
const lengths = [0, 1, 15, 16, 17, 511, 512, 513, 529, 65_535, 65_536, 65_537, 131_073]

test('finds every end in texts of any length', () => {
  for (const length of lengths) {
    for (const fill of ['a', '"', '\\', '\n', '\xff']) {
      const bytes = Buffer.alloc(length, fill, 'latin1')
      assert.deepEqual(findAll(bytes), expected(bytes), `${length} times ${JSON.stringify(fill)}`)
    }
    for (const at of [0, length >> 1, length - 1].filter((one) => one >= 0 && one < length)) {
      const bytes = Buffer.alloc(length, 0x7f)
      bytes[at] = 0x1f
      assert.deepEqual(findAll(bytes), [at], `${length}, at ${at}`)
    }
  }
})

test('finds the ends in random bytes, with any steps between', () => {
  const code = fc.oneof(
    { weight: 30, arbitrary: fc.nat(255) },
    fc.constantFrom(0x22, 0x5c, 0x1f, 0x20),
  )
  const steps = fc.array(fc.nat(700), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(
      fc.array(code, { maxLength: 2_000 }),
      steps,
      fc.nat(70_000),
      (codes, strides, gap) => {
        const bytes = Buffer.concat([
          Buffer.from(codes),
          Buffer.alloc(gap, 'x'),
          Buffer.from(codes),
        ])
        const ends = new RunEnds(bytes)
        for (
          let at = 0, step = 0;
          at < bytes.length;
          at += 1 + (strides[step++ % strides.length] ?? 0)
        ) {
          const found = ends.next(at)
          let wanted = at
          while (wanted < bytes.length && !isEnd(bytes[wanted] ?? 0)) wanted++
          assert.equal(found, wanted)
        }
      },
    ),
    { numRuns: 30 },
  )
})

test('two texts that are read in turn do not disturb each other', () => {
  const texts = ['ab"', 'abcdefg\\'].map((piece) => Buffer.from(piece.repeat(30_000)))
  const readers = texts.map((text) => new RunEnds(text))
  const found = texts.map((): number[] => [])
  for (let count = 0; count < 5_000; count++)
    for (const [index, reader] of readers.entries()) {
      const ends = found[index] ?? []
      ends.push(reader.next((ends.at(-1) ?? -1) + 1))
    }
  assert.deepEqual(
    found,
    texts.map((text) => expected(text).slice(0, 5_000)),
  )
})

test('the module is what its source compiles to', async () => {
  const wabt = await openWabt()
  const source = readFileSync(new URL('run-ends.wat', import.meta.url), 'utf8')
  const { buffer } = wabt.parseWat('run-ends.wat', source, { simd: true }).toBinary({})
  assert.equal(Buffer.from(buffer).toString('base64'), moduleBase64)
})
