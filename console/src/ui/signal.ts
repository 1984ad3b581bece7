/** Tells components that a value outside of them, such as one that the browser keeps, has changed. */
import { useSyncExternalStore } from 'react'

interface Signal {
  readonly send: () => void
  /** Reads the value, and again after each signal. */
  readonly useValue: <Value>(read: () => Value) => Value
}

export function buildSignal(): Signal {
  const watchers = new Set<() => void>()
  const subscribe = (watch: () => void): (() => void) => {
    watchers.add(watch)
    return () => watchers.delete(watch)
  }
  return {
    send() {
      for (const watch of watchers) watch()
    },
    useValue: (read) => useSyncExternalStore(subscribe, read),
  }
}
