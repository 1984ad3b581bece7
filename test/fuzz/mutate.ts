/**
 * Changes bytes as broken programs and attackers do. Every mutation takes any bytes: those that know a
 * structure leave others as they are. It knows no target.
 */
import type { Random } from '../../src/base/random.ts'
import { changeJson, pick } from './mutate-json.ts'

export interface MutationSources {
  readonly random: Random
  /** Other inputs, of which parts are taken. */
  readonly others: readonly Buffer[]
  readonly words: readonly string[]
}

type Mutation = (bytes: Buffer, sources: MutationSources) => Buffer

/** Larger inputs find nothing that smaller ones do not, and take longer. */
const inputBytesMax = 16_384
const stepsMax = 5

export function mutate(input: Buffer, sources: MutationSources): Buffer {
  const { random } = sources
  let bytes = input
  const steps = 1 + Math.floor(random() * stepsMax)
  for (let step = 0; step < steps; step++) bytes = pick(mutations, random)(bytes, sources)
  return bytes.subarray(0, inputBytesMax)
}

const interestingBytes = [0, 0x09, 0x0a, 0x0d, 0x1f, 0x20, 0x22, 0x5c, 0x7f, 0x80, 0xbf, 0xff]

const numbers = [
  '0',
  '-0',
  '1',
  '-1',
  '0.5',
  '1e2',
  '1.0',
  '127',
  '255',
  '256',
  '32768',
  '65535',
  '65536',
  '2147483647',
  '2147483648',
  '4294967296',
  '1000000000',
  '1000000001',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '18446744073709551616',
  '1e308',
  '1e309',
  '1e-400',
  '00',
  '01',
  '99999',
  '0x10',
  '1_000',
  'NaN',
  'Infinity',
  '1e999999',
]

const brokenUtf8 = ['80', 'c3', 'c080', 'c0af', 'eda080', 'f48fbfbf', 'f4908080', 'efbbbf', 'e282']

const commonWords = [
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  '\r\n\r\n',
  '\0',
  '\t',
  ' ',
  '"',
  "'",
  '\\',
  '\\u0000',
  '\\ud800',
  '\u2028',
  '\u0130',
  '\u212a',
  '\u017f',
  '\ufeff',
  '\u{1f44b}',
  '__proto__',
  'constructor',
  '{}',
  '[]',
  'null',
  'true',
  'false',
  '""',
  ',',
  ':',
  ';',
  '=',
  '-',
  '[[[[[[[[',
  '{"a":',
]

function place(bytes: Buffer, random: Random): number {
  return Math.floor(random() * (bytes.length + 1))
}

/** Two places in order; most are near to each other. */
function range(bytes: Buffer, random: Random): readonly [number, number] {
  const from = place(bytes, random)
  const longest = random() < 0.7 ? 16 : bytes.length
  return [from, Math.min(bytes.length, from + Math.ceil(random() * longest))]
}

function replace(bytes: Buffer, from: number, to: number, part: Buffer | string): Buffer {
  return Buffer.concat([bytes.subarray(0, from), Buffer.from(part), bytes.subarray(to)])
}

function replaceMatch(
  bytes: Buffer,
  pattern: RegExp,
  random: Random,
  change: (found: string) => string,
): Buffer {
  const text = bytes.toString('latin1')
  const matches = [...text.matchAll(pattern)]
  if (matches.length === 0) return bytes
  const { index, 0: found } = pick(matches, random)
  return replace(bytes, index, index + found.length, Buffer.from(change(found), 'latin1'))
}

const flipBit: Mutation = (bytes, { random }) => {
  if (bytes.length === 0) return bytes
  const copy = Buffer.from(bytes)
  const at = Math.floor(random() * copy.length)
  copy[at] = (copy[at] ?? 0) ^ (1 << Math.floor(random() * 8))
  return copy
}

const setByte: Mutation = (bytes, { random }) => {
  const at = place(bytes, random)
  const isInserted = random() < 0.5
  return replace(bytes, at, isInserted ? at : at + 1, Buffer.from([pick(interestingBytes, random)]))
}

const remove: Mutation = (bytes, { random }) => replace(bytes, ...range(bytes, random), '')

const truncate: Mutation = (bytes, { random }) => bytes.subarray(0, place(bytes, random))

const repeat: Mutation = (bytes, { random }) => {
  const [from, to] = range(bytes, random)
  const times = random() < 0.1 ? 64 : 1 + Math.floor(random() * 3)
  const part = bytes.subarray(from, to)
  return replace(bytes, from, from, Buffer.concat(Array<Buffer>(times).fill(part)))
}

const move: Mutation = (bytes, { random }) => {
  const [from, to] = range(bytes, random)
  const part = bytes.subarray(from, to)
  const rest = replace(bytes, from, to, '')
  const at = place(rest, random)
  return replace(rest, at, at, part)
}

const insertWord: Mutation = (bytes, { random, words }) => {
  const at = place(bytes, random)
  const to = random() < 0.3 ? Math.min(bytes.length, at + Math.floor(random() * 12)) : at
  return replace(
    bytes,
    at,
    to,
    pick(random() < 0.6 && words.length > 0 ? words : commonWords, random),
  )
}

const changeNumber: Mutation = (bytes, { random }) =>
  replaceMatch(bytes, /-?\d+(?:\.\d+)?/g, random, (found) => {
    const value = Number(found)
    return random() < 0.3 ? String(value + pick([-1, 1, 0.5], random)) : pick(numbers, random)
  })

const breakUtf8: Mutation = (bytes, { random }) => {
  const at = place(bytes, random)
  return replace(bytes, at, at, Buffer.from(pick(brokenUtf8, random), 'hex'))
}

const changeLineEnds: Mutation = (bytes, { random }) => {
  const lineEnd = pick(['\n', '\r\n', '\r'], random)
  if (random() < 0.5) return replaceMatch(bytes, /\r\n|\n|\r/g, random, () => lineEnd)
  return Buffer.from(bytes.toString('latin1').replace(/\r\n|\n|\r/g, lineEnd), 'latin1')
}

const changeCase: Mutation = (bytes, { random }) =>
  replaceMatch(bytes, /[A-Za-z]+/g, random, (found) => {
    const upper = found.toUpperCase()
    return found === upper
      ? found.toLowerCase()
      : random() < 0.5
        ? upper
        : `${upper[0]}${found.slice(1)}`
  })

const escapeLetter: Mutation = (bytes, { random }) =>
  replaceMatch(bytes, /[A-Za-z_]/g, random, (found) => {
    const code = found.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${random() < 0.5 ? code : code.toUpperCase()}`
  })

function linesOf(bytes: Buffer): string[] {
  return bytes.toString('latin1').split(/(?<=\n)/)
}

const changeLines: Mutation = (bytes, { random, others }) => {
  const lines = linesOf(bytes)
  const at = Math.floor(random() * lines.length)
  const other = pick(random() < 0.5 ? lines : linesOf(pick(others, random)), random)
  const removed = random() < 0.4 ? 1 : 0
  lines.splice(at, removed, ...(random() < 0.7 ? [other] : []))
  return Buffer.from(lines.join(''), 'latin1')
}

const indent: Mutation = (bytes, { random }) =>
  replaceMatch(bytes, /^ */gm, random, (found) => (random() < 0.5 ? `${found}  ` : found.slice(2)))

const takeFromOther: Mutation = (bytes, { random, others }) => {
  const other = pick(others, random)
  const [from, to] = range(other, random)
  const [start, end] = range(bytes, random)
  const isEnd = random() < 0.3
  return replace(
    bytes,
    start,
    isEnd ? bytes.length : end,
    other.subarray(from, isEnd ? undefined : to),
  )
}

const changeTree: Mutation = (bytes, { random, words }) => changeJson(bytes, random, words)

const mutations: readonly Mutation[] = [
  flipBit,
  setByte,
  remove,
  truncate,
  repeat,
  move,
  insertWord,
  insertWord,
  changeNumber,
  changeNumber,
  breakUtf8,
  changeLineEnds,
  changeCase,
  escapeLetter,
  changeLines,
  changeLines,
  indent,
  takeFromOther,
  changeTree,
  changeTree,
  changeTree,
]
