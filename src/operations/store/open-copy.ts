/** A checked copy of the store, as a file that is open and has no name. */

export interface CheckedCopy {
  readonly bytes: number
  /** SHA-256 of the file, as base64. */
  readonly sha256: string
  /** False where the audit of the copy found differences. */
  readonly isClean: boolean
}

export interface OpenCopy extends CheckedCopy {
  /** Returns the next bytes; undefined behind the last. */
  readonly read: () => Promise<Uint8Array<ArrayBuffer> | undefined>
  readonly close: () => Promise<void>
}
