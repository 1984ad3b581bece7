/**
 * The memory of the process: V8's flags, and returning memory to the operating system when a busy time is
 * over. V8 collects only while a program allocates, and the C library keeps the gaps between its living
 * blocks: without this a gateway keeps for days the memory that a flood has made it take.
 */
import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Clock, Timer } from '../base/clock.ts'

/**
 * Turns off V8's pretenuring. V8 takes objects that live for one exchange for long-lived ones and creates
 * them in the old generation. There they keep garbage of their exchange alive until the next full
 * collection, which makes every young collection several times as expensive.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

export interface MemoryEffects {
  readonly clock: Clock
  /** Returns the memory that the process takes up; undefined where that cannot be read now. */
  readonly residentBytes: () => number | undefined
  /** Returns the share of the time since the last call in which the event loop worked, 0 to 1. */
  readonly busyShare: () => number
  readonly release: () => void
}

const checkMs = 10_000
/** A release stops the event loop for some tens of milliseconds: only where it will hardly be noticed. */
const idleShareMax = 0.05
/** The growth of the memory between two releases. The first one drops the remains of the start. */
const growthBytesMin = 33_554_432
/** A release may leave this much above the least so far; more is released again, later and later. */
const leftBytesMax = 16_777_216

/**
 * Checks every 10 s until `close`. Each release is followed by a second one: V8 shrinks its room for young
 * objects only in a collection before which little was allocated for some seconds. Further ones follow while
 * much is left, after twice the time each: idle connections keep their memory until their timeouts.
 */
export function releaseMemoryWhenIdle(effects: MemoryEffects): { close(): void } {
  const { clock } = effects
  let timer: Timer
  let keptBytes = 0
  let leastBytes = Infinity
  let pauseChecks = 0
  let checksLeft = 0
  const check = (): void => {
    const bytes = effects.residentBytes()
    const isIdle = effects.busyShare() < idleShareMax
    const hasGrown = bytes !== undefined && bytes > keptBytes + growthBytesMin
    const isMuchLeft = pauseChecks === 1 || (bytes ?? 0) > leastBytes + leftBytesMax
    checksLeft--
    if (bytes !== undefined && isIdle && (hasGrown || (isMuchLeft && checksLeft <= 0))) {
      effects.release()
      keptBytes = effects.residentBytes() ?? bytes
      leastBytes = Math.min(leastBytes, keptBytes)
      pauseChecks = hasGrown ? 1 : pauseChecks * 2
      checksLeft = pauseChecks
    }
    timer = clock.onTick(checkMs, check)
  }
  timer = clock.onTick(checkMs, check)
  return { close: () => timer.cancel() }
}

export function processMemory(clock: Clock): MemoryEffects {
  let seen = performance.eventLoopUtilization()
  return {
    clock,
    residentBytes,
    busyShare() {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, seen)
      seen = now
      return utilization
    },
    release: releaseMemory,
  }
}

function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch {
    // Node reads it from a file, and the process may have no file left. The next check asks again.
    return undefined
  }
}

/** Collects all garbage and trims the C library's heap, where that is the GNU one. */
export function releaseMemory(): void {
  collectGarbage ??= findCollector()
  collectGarbage()
  trimHeap ??= findTrim()
  trimHeap()
}

let collectGarbage: (() => void) | undefined
let trimHeap: (() => void) | undefined

type Collect = (options?: { readonly type: 'minor' }) => void

function findCollector(): () => void {
  setFlagsFromString('--expose-gc')
  const found: unknown = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  if (typeof found !== 'function') return () => undefined
  const collect = found as Collect
  return () => {
    // By itself a collection moves few objects together, and a flood leaves most pages nearly empty.
    setFlagsFromString('--compact-on-every-full-gc')
    collect()
    setFlagsFromString('--no-compact-on-every-full-gc')
    // A collection frees Buffers on another thread; the next one first waits for that.
    collect({ type: 'minor' })
  }
}

/** The part of `node:ffi` that is used here. */
interface ForeignFunctions {
  dlopen(
    library: string,
    signatures: { malloc_trim: { arguments: readonly ['uint64']; return: 'int32' } },
  ): { readonly functions: { malloc_trim(keptBytes: bigint): number } }
}

/** `node:ffi` is experimental: the Node version is pinned, and without it this does nothing. */
function findTrim(): () => void {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => undefined
  try {
    const foreign = process.getBuiltinModule('node:ffi') as unknown as ForeignFunctions
    const signature = { arguments: ['uint64'], return: 'int32' } as const
    const { functions } = foreign.dlopen('libc.so.6', { malloc_trim: signature })
    return () => void functions.malloc_trim(0n)
  } catch {
    // Another C library, or no such module: only garbage is collected.
    return () => undefined
  } finally {
    process.emitWarning = emitWarning
  }
}
