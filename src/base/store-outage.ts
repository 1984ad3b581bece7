/**
 * Why a store does not answer, in words that an operator finds in docs/operating.md. It stands among
 * the causes of what callers get to see, so that whoever writes the log need not read sentences.
 */

export type OutageReason =
  | 'disk_full'
  | 'locked' // another process keeps the store to itself
  | 'unreadable' // the file, or the disk below it, has failed

export class StoreOutage extends Error {
  readonly reason: OutageReason

  constructor(reason: OutageReason, cause: Error) {
    super(cause.message, { cause })
    this.name = 'StoreOutage'
    this.reason = reason
  }
}

/** The reason among an error's causes, where one is known. */
export function outageReasonOf(error: unknown): OutageReason | undefined {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof StoreOutage) return at.reason
  return undefined
}
