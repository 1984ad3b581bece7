/**
 * Directives that are well formed and yet mean nothing: names of errors, kinds of content or points
 * of gates that there are not. Checked once per exchange that has directives.
 */
import type { Directives } from './directives.ts'
import { isPresetName } from './error-answer.ts'
import { findHoldFault } from './pacer.ts'

const contentKinds = new Set([
  'text',
  'cited',
  'thinking',
  'omitted',
  'redacted',
  'fallback',
  'tool',
  'search',
  'all',
  'refusal',
  'reasoning',
  'audio',
])

export function findDirectiveFaults(directives: Directives): readonly string[] {
  const faults: string[] = []
  const { error, errorFirst, eventError, content, hold, header } = directives
  for (const name of [error, errorFirst, eventError]) {
    if (name !== undefined && name !== '' && !isPresetName(name)) {
      faults.push(`there is no error "${name}"`)
    }
  }
  for (const kind of content?.split(',') ?? []) {
    if (!contentKinds.has(kind)) faults.push(`there is no content "${kind}"`)
  }
  if (header !== undefined && !/^[\w-]+:/.test(header)) faults.push('header is not name:value')
  const holdFault = hold === undefined ? undefined : findHoldFault(hold)
  if (holdFault !== undefined) faults.push(holdFault)
  return faults
}
