/** The names of the nodes of one supervisor. */

/** `slot` counts from 1. */
export function nodeNameOf(name: string, slot: number): string {
  return `${name}-${slot}`
}
