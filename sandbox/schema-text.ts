/** Texts that fit the formats and patterns of a JSON schema; `variant` makes several of them differ. */

/** Returns undefined for a format that is unknown. */
export function textOfFormat(format: string, variant: number): string | undefined {
  const number = String(variant + 1)
  switch (format) {
    case 'date-time':
      return `2026-01-01T00:00:${two(variant)}Z`
    case 'date':
      return `2026-01-${two((variant % 28) + 1)}`
    case 'time':
      return `00:00:${two(variant)}Z`
    case 'duration':
      return `PT${number}S`
    case 'email':
      return `simulated${number}@sandbox.example`
    case 'hostname':
      return `host${number}.sandbox.example`
    case 'ipv4':
      return `192.0.2.${variant % 256}`
    case 'ipv6':
      return `2001:db8::${number}`
    case 'uri':
    case 'url':
      return `https://sandbox.example/${number}`
    case 'uuid':
      return `00000000-0000-4000-8000-${number.padStart(12, '0')}`
    default:
      return undefined
  }
}

function two(number: number): string {
  return String(number % 60).padStart(2, '0')
}

interface PatternOptions {
  readonly variant: number
  /** The fewest characters, where repetition allows them. */
  readonly least: number
}

/** Returns undefined where the pattern is not of the simple kind: no look-around, no back-references. */
export function textOfPattern(pattern: string, options: PatternOptions): string | undefined {
  let expected: RegExp
  try {
    expected = new RegExp(pattern, 'u')
  } catch {
    return undefined // Not a pattern of this language: the text without it is as good as any.
  }
  for (const repeats of [1, 2, options.least, 0]) {
    const text = new PatternReader(pattern, { ...options, repeats }).read()
    if (Array.from(text).length >= options.least && expected.test(text)) return text
  }
  return undefined
}

/** Writes one text for each part of a pattern as it reads it. */
class PatternReader {
  readonly #pattern: string
  readonly #variant: number
  /** For `*` and `+`. */
  readonly #repeats: number
  #at = 0

  constructor(
    pattern: string,
    { variant, repeats }: PatternOptions & { readonly repeats: number },
  ) {
    this.#pattern = pattern
    this.#variant = variant
    this.#repeats = repeats
  }

  /** Reads alternatives up to the end or the closing bracket; the first one counts. */
  read(): string {
    let chosen: string | undefined
    let text = ''
    for (; this.#at < this.#pattern.length;) {
      const character = this.#pattern[this.#at] ?? ''
      if (character === ')') break
      if (character === '|') {
        chosen ??= text
        text = ''
        this.#at++
      } else if (character === '^' || character === '$') this.#at++
      else text += this.#readPiece()
    }
    return chosen ?? text
  }

  /** Reads one atom and how often it occurs. */
  #readPiece(): string {
    const atom = this.#readAtom()
    const rest = this.#pattern.slice(this.#at)
    const match = /^(?:\{(\d+)(?:,\d*)?\}|[*+?])\??/.exec(rest)
    if (match === null) return atom
    this.#at += match[0].length
    if (match[1] !== undefined) return atom.repeat(Math.min(Number(match[1]), 1_000))
    if (match[0].startsWith('?')) return ''
    return atom.repeat(match[0].startsWith('+') ? Math.max(this.#repeats, 1) : this.#repeats)
  }

  #readAtom(): string {
    const character = this.#pattern[this.#at++] ?? ''
    if (character === '(') {
      const kind = /^\?(?::|<[A-Za-z_]\w*>)/.exec(this.#pattern.slice(this.#at))
      this.#at += kind?.[0].length ?? 0
      const inner = this.read()
      this.#at++
      return inner
    }
    if (character === '[') return this.#readClass()
    if (character === '\\') return this.#readEscape()
    return character === '.' ? this.#letter('a') : character
  }

  #readEscape(): string {
    const escaped = this.#pattern[this.#at++] ?? ''
    switch (escaped) {
      case 'd':
        return this.#digit(0)
      case 'w':
        return this.#letter('a')
      case 's':
        return ' '
      case 'S':
      case 'D':
        return 'a'
      case 'W':
        return '-'
      default:
        return escaped
    }
  }

  /** Chooses the first member of a class. */
  #readClass(): string {
    const isNegated = this.#pattern[this.#at] === '^'
    const close = /(?:[^\\\]]|\\.)*/y
    close.lastIndex = this.#at
    const body = close.exec(this.#pattern)?.[0] ?? ''
    this.#at += body.length + 1
    if (isNegated) return new RegExp(`[${body}]`, 'u').test('a') ? 'a' : '~'
    const [first = '', dash, last] = Array.from(body)
    if (first === '\\') return classEscapes[dash ?? ''] ?? dash ?? ''
    if (dash !== '-' || last === undefined) return first
    if (/[0-9]/.test(first)) return this.#digit(Number(first), Number(last))
    return /[a-z]/i.test(first) ? this.#letter(first, last) : first
  }

  #digit(from: number, to = 9): string {
    return String(from + (this.#variant % (to - from + 1)))
  }

  #letter(from: string, to = from === 'a' ? 'z' : from): string {
    const span = Math.max(to.charCodeAt(0) - from.charCodeAt(0), 0) + 1
    return String.fromCharCode(from.charCodeAt(0) + (this.#variant % span))
  }
}

const classEscapes: Readonly<Record<string, string>> = {
  d: '0',
  w: 'a',
  s: ' ',
  D: 'a',
  S: 'a',
  W: '-',
}
