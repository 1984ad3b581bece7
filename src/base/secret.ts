/**
 * A value that must not be printed: logs, errors, JSON and inspection show `***`. Only code that needs the
 * plaintext calls `reveal`.
 */
import { inspect } from 'node:util'

export class Secret {
  readonly #plaintext: string

  constructor(plaintext: string) {
    this.#plaintext = plaintext
  }

  /** Returns the plaintext, for a header or a hash, never for a log or an error. */
  reveal(): string {
    return this.#plaintext
  }

  toString(): string {
    return '***'
  }

  toJSON(): string {
    return '***'
  }

  [inspect.custom](): string {
    return '***'
  }
}
