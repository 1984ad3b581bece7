/**
 * Keys by the hash of their secret, as requests look them up: a bounded memory in front of the
 * store. It is emptied whenever keys or accounts change in the store, so it never outlives a
 * revocation by more than the time it takes to notice; it knows no request and decides nothing.
 */
import type { Queryable } from '../storage/database.ts'
import { findKnownKey, type KnownKey } from './key-store.ts'

export interface KeyDirectory {
  /** The key where it is remembered; undefined says nothing about the store. */
  recall(secretHash: string): KnownKey | undefined
  /** The key, or undefined where there is none; at once when it is remembered. */
  find(secretHash: string): KnownKey | undefined | Promise<KnownKey | undefined>
  /** Forgets everything: to be called when the store's revision of `access` or `accounts` moves. */
  clear(): void
}

/** Remembered in place of a key for secrets that do not exist, so that repeats cost no read. */
const unknownKey = Symbol('unknown key')

/** Guessed secrets may fill this many places and never push out a key that exists. */
const unknownCountMax = 1_024

export function createKeyDirectory(
  database: Queryable,
  options: { readonly bound: number },
): KeyDirectory {
  const known = createRecent<KnownKey>(options.bound)
  const unknown = createRecent<typeof unknownKey>(unknownCountMax)
  const loading = new Map<string, Promise<KnownKey | undefined>>()
  let generation = 0

  async function load(secretHash: string): Promise<KnownKey | undefined> {
    const startedIn = generation
    try {
      const key = await findKnownKey(database, secretHash)
      // What was read before the last change may be stale: answer with it, but do not remember it.
      if (startedIn === generation) {
        if (key === undefined) unknown.set(secretHash, unknownKey)
        else known.set(secretHash, key)
      }
      return key
    } finally {
      if (startedIn === generation) loading.delete(secretHash)
    }
  }

  return {
    recall: (secretHash) => known.get(secretHash),
    find(secretHash) {
      const key = known.get(secretHash)
      if (key !== undefined) return key
      if (unknown.get(secretHash) !== undefined) return undefined
      const running = loading.get(secretHash)
      if (running !== undefined) return running
      const started = load(secretHash)
      loading.set(secretHash, started)
      return started
    },
    clear() {
      generation++
      known.clear()
      unknown.clear()
      loading.clear()
    },
  }
}

interface Recent<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  clear(): void
}

/**
 * Remembers at least the `bound / 2` and at most the `bound` values used last. Two maps take turns:
 * when the young one is full it becomes the old one, and what is asked for again moves back. Unlike
 * an exact order of use this costs a plain map lookup on nearly every hit.
 */
function createRecent<Value>(bound: number): Recent<Value> {
  const youngMax = Math.max(1, Math.floor(bound / 2))
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()

  function set(key: string, value: Value): void {
    if (young.size >= youngMax) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const oldValue = old.get(key)
      if (oldValue !== undefined) set(key, oldValue)
      return oldValue
    },
    set,
    clear() {
      young = new Map()
      old = new Map()
    },
  }
}
