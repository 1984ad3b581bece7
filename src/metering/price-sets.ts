/**
 * What the sets of one version of prices need of each other: each has a price for output exactly where the
 * model has one, and long-context prices exactly where the model has them. Pure.
 */
import type { z } from 'zod'

interface SetForm {
  readonly multiplier?: unknown
  readonly input?: unknown
  readonly output?: unknown
  readonly long_context?: SetForm | undefined
}

type SetForms = Readonly<Record<string, SetForm>>

interface SetsForm extends SetForm {
  readonly tiers?: SetForms | undefined
  readonly speeds?: SetForms | undefined
  readonly geos?: SetForms | undefined
}

export const changeRule = 'give either multiplier, or input and output'

export function refineSets(form: SetsForm, context: z.RefinementCtx): void {
  const complain = (path: readonly string[], message: string): void =>
    context.addIssue({ code: 'custom', path: [...path], message })
  const hasOutput = form.output !== undefined
  const hasLong = form.long_context !== undefined
  checkOutput(['long_context'], form.long_context, hasOutput, complain)
  for (const group of ['tiers', 'speeds', 'geos'] as const)
    for (const [name, set] of Object.entries(form[group] ?? {})) {
      // A factor has no prices; a set without input has been refused.
      if (set.multiplier !== undefined || set.input === undefined) continue
      const path = [group, name]
      if (hasOutput && set.output === undefined) complain(path, changeRule)
      else checkOutput(path, set, hasOutput, complain)
      checkOutput([...path, 'long_context'], set.long_context, hasOutput, complain)
      const isLong = set.long_context !== undefined
      if (isLong !== hasLong)
        complain([...path, 'long_context'], isLong ? longUnknown : longMissing)
    }
}

const longUnknown =
  'long_context needs the long_context of the model itself, which says above how many tokens'
const longMissing =
  'long_context is missing: the model has long-context prices, so this entry needs them too'

function checkOutput(
  path: readonly string[],
  set: SetForm | undefined,
  hasOutput: boolean,
  complain: (path: readonly string[], message: string) => void,
): void {
  if (set === undefined || (set.output !== undefined) === hasOutput) return
  const message = hasOutput
    ? 'output is missing: the model has an output price, so this set needs one too'
    : 'output needs the output price of the model itself'
  complain([...path, 'output'], message)
}
