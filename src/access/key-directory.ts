/**
 * Finds keys by the hash of their secret: a bounded cache in front of the store. It is cleared whenever
 * keys or accounts change in the store, so a revoked key stays valid only until the change is noticed.
 * It knows no request and decides nothing.
 */
import type { Queryable } from '../storage/database.ts'
import { findKnownKey, type KnownKey } from './key-store.ts'

export interface KeyDirectory {
  /** Returns the key where it is cached; undefined says nothing about the store. */
  findCached(secretHash: string): KnownKey | undefined
  /** Returns the key from cache or store; undefined where it does not exist. */
  find(secretHash: string): Promise<KnownKey | undefined>
  /** Empties the cache. Call it when the store's revision of `access` or `accounts` changes. */
  clear(): void
}

/** Cached for secrets that do not exist, so that a repeat costs no read. */
const unknownKey = Symbol('unknown key')

/** Guessed secrets fill at most this many places, and never evict a key that exists. */
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
      // A read from before the last change may be stale: return it, but do not cache it.
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
    findCached: (secretHash) => known.get(secretHash),
    async find(secretHash) {
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
 * Caches at least the `bound / 2` and at most the `bound` values used last. When the young map is full
 * it becomes the old one, and a value that is used again moves to the young one. Unlike an exact order
 * of use this costs one map lookup on nearly every hit.
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
