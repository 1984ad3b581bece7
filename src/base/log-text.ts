/**
 * Log lines for a person at a terminal: time, level, message, then the fields. It takes the JSON line, which
 * is redacted already. Invariant: no value can move the cursor or colour the terminal, because everything
 * but plain words is printed as JSON.
 */
import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

const styles: Readonly<Record<string, Style>> = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
  info: 'green',
}

/** Names of a line that have a place of their own. */
const placed = new Set(['level', 'time', 'msg', 'frames'])
const levelWidth = 5

/** Returns the text of one JSON line, with its line end. `stream` decides whether there are colours. */
export function formatLogLine(line: string, stream: NodeJS.WriteStream): string {
  const fields = parse(line)
  if (fields === undefined) return line
  const level = typeof fields['level'] === 'string' ? fields['level'] : ''
  const paint = (style: Style, text: string): string =>
    styleText(style, text, { stream, validateStream: true })
  const head = [
    paint('dim', timeOf(fields['time'])),
    paint(styles[level] ?? 'dim', level.padEnd(levelWidth)),
    plain(fields['msg'], /^[\x20-\x7e]*$/),
  ]
  const rest = Object.entries(fields)
    .filter(([name, value]) => !placed.has(name) && value !== undefined)
    .map(([name, value]) => `${paint('dim', `${name}=`)}${plain(value, /^[\w.:/@+-]+$/)}`)
  return `${[...head, ...rest].join(' ')}\n${framesOf(fields['frames'])}`
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** Hours to milliseconds, UTC: a person at a terminal knows the day. */
function timeOf(time: unknown): string {
  return typeof time === 'string' ? time.slice(11) : ''
}

function plain(value: unknown, isPlain: RegExp): string {
  if (typeof value === 'string' && isPlain.test(value)) return value
  return escapeControls(JSON.stringify(value) ?? '')
}

/** JSON leaves DEL and the control characters of ISO 8859 as they are; terminals obey some. */
function escapeControls(text: string): string {
  return text.replaceAll(
    /[\x7f-\x9f]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function framesOf(frames: unknown): string {
  if (!Array.isArray(frames)) return ''
  return frames.map((frame) => `    ${plain(frame, /^[\x20-\x7e]*$/)}\n`).join('')
}
