/**
 * Runs a target on its kept inputs and on mutations of them. A run is a function of its seed. An input that
 * breaks a promise is made smaller and written to `test/fuzz/found`.
 */
import { crc32 } from 'node:zlib'
import { seededRandom, type Random } from '../../src/base/random.ts'
import { readCorpus, writeFound } from './corpus.ts'
import { CoverageGuide } from './coverage.ts'
import { mutate } from './mutate.ts'
import { pick } from './mutate-json.ts'
import type { FuzzTarget } from './target.ts'

/** Runs one input. Rejects with what the target has thrown. */
async function run(target: FuzzTarget, input: Buffer): Promise<void> {
  await target.check(input, seededRandom(crc32(input)))
}

async function failureOf(target: FuzzTarget, input: Buffer): Promise<Error | undefined> {
  try {
    await run(target, input)
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Throws for the first kept input that breaks a promise, and names it. */
export async function runCorpus(target: FuzzTarget): Promise<void> {
  for (const { name, bytes } of readCorpus(target.name)) {
    const failure = await failureOf(target, bytes)
    if (failure !== undefined)
      throw new Error(`${target.name}/${name}: ${failure.message}`, { cause: failure })
  }
}

/** Throws for the first mutated input that breaks a promise. */
export async function runMutations(target: FuzzTarget, seed: number, count: number): Promise<void> {
  const random = seededRandom(seed)
  const inputs = readCorpus(target.name).map(({ bytes }) => bytes)
  for (let done = 0; done < count; done++) {
    const input = mutation(target, inputs, random)
    const failure = await failureOf(target, input)
    if (failure !== undefined) await report(target, { input, failure, seed })
  }
}

export interface Exploration {
  readonly runs: number
  /** Inputs that reached code which no earlier one had. */
  readonly kept: number
}

const batchRuns = 400

/**
 * Runs mutations while there is time, and mutates those further that reach new code. Throws for the first
 * input that breaks a promise.
 */
export async function explore(
  target: FuzzTarget,
  seed: number,
  hasTime: () => boolean,
): Promise<Exploration> {
  const random = seededRandom(seed)
  const inputs = readCorpus(target.name).map(({ bytes }) => bytes)
  using guide = new CoverageGuide()
  for (const input of inputs) await run(target, input)
  guide.takeNew()
  let runs = 0
  let kept = 0
  while (hasTime()) {
    const batch = Array.from({ length: batchRuns }, () => mutation(target, inputs, random))
    for (const input of batch) {
      const failure = await failureOf(target, input)
      if (failure !== undefined) await report(target, { input, failure, seed })
    }
    runs += batch.length
    const found = guide.hasNew() ? await withNewCode(target, batch, guide) : []
    kept += found.length
    inputs.push(...found)
  }
  return { runs, kept }
}

/** Returns those of the inputs that reach code which neither the guide nor an earlier one knows. */
async function withNewCode(
  target: FuzzTarget,
  inputs: readonly Buffer[],
  guide: CoverageGuide,
): Promise<readonly Buffer[]> {
  const middle = Math.ceil(inputs.length / 2)
  const found: Buffer[] = []
  for (const half of [inputs.slice(0, middle), inputs.slice(middle)]) {
    for (const input of half) await run(target, input)
    if (half.length === 1) found.push(...(guide.takeNew() ? half : []))
    else if (half.length > 1 && guide.hasNew())
      found.push(...(await withNewCode(target, half, guide)))
  }
  return found
}

function mutation(target: FuzzTarget, inputs: readonly Buffer[], random: Random): Buffer {
  return mutate(pick(inputs, random), { random, others: inputs, words: target.words })
}

interface Found {
  readonly input: Buffer
  readonly failure: Error
  readonly seed: number
}

async function report(target: FuzzTarget, { input, failure, seed }: Found): Promise<never> {
  const small = await minimise(target, input)
  const { message } = (await failureOf(target, small)) ?? failure
  const lines = [
    `${target.name}: an input of ${small.length} bytes breaks a promise: ${message}`,
    `the input: ${JSON.stringify(small.toString('latin1'))}`,
    `run again: SEED=${seed} npm run test:fuzz -- --only=${target.name}`,
    `keep it:   ${writeFound(target.name, small)}`,
  ]
  throw new Error(lines.join('\n'), { cause: failure })
}

const minimiseRunsMax = 3_000

/** Leaves out parts, large ones first, while the target still fails. */
export async function minimise(target: FuzzTarget, input: Buffer): Promise<Buffer> {
  let small = input
  let runs = 0
  for (
    let size = Math.ceil(input.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < small.length && runs < minimiseRunsMax; runs++) {
      const without = Buffer.concat([small.subarray(0, at), small.subarray(at + size)])
      if ((await failureOf(target, without)) === undefined) at += size
      else small = without
    }
  }
  return small
}
