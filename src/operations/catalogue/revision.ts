/**
 * The revision of the catalogue, and the guard against undoing what another hand has changed. A revision
 * names the last recorded change by its number in the operators' log and a part of its hash: another store
 * has other changes of that number. The invariant: a change that touches an entry which another hand has
 * changed since the given revision is refused.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Queryable } from '../../storage/database.ts'
import { findNewestAction, listActionsAfter, type ActionHead, type ActionView } from '../actions.ts'
import { changedMeanwhile, invalidField, type OperationContext } from '../operation.ts'
import { catalogueChangeForm, fieldChangeForm, type CatalogueChange } from './plan.ts'

/** The recorded actions that change entries. */
const actions = ['catalogue.apply', 'price.import'] as const

interface Revision {
  /** The number of the last change; 0 where there was none. */
  readonly sequence: number
  readonly mark: string | undefined
}

const revisionRule = 'must be the revision that an answer or an export has'

/** A revision as operators give it. */
export const revisionField = z
  .string(revisionRule)
  .refine((text) => readRevision(text) !== undefined, revisionRule)
  .meta({ pattern: '^(0|[1-9][0-9]{0,14}-[0-9a-f]{8})$' })
  .optional()
  .describe(
    'The revision that you read: refuses to undo what others have changed since. Anything goes without it.',
  )

export const revisionForm = z
  .string()
  .meta({ description: 'The revision of the catalogue, to send with the next change.' })

/** Undefined for a text that is no revision. */
export function readRevision(text: string): Revision | undefined {
  const [, digits, mark] = /^(0|[1-9]\d{0,14})(?:-([0-9a-f]{8}))?$/.exec(text) ?? []
  const sequence = Number(digits)
  return digits !== undefined && (sequence === 0) === (mark === undefined)
    ? { sequence, mark }
    : undefined
}

export async function currentRevision(queryable: Queryable): Promise<string> {
  const last = await findNewestAction(queryable, actions)
  return last === undefined ? '0' : `${last.sequence}-${markOf(last)}`
}

function markOf({ sequence, atMs, actor, action }: ActionHead): string {
  return hash('sha256', `${sequence} ${atMs} ${actor} ${action}`, 'hex').slice(0, 8)
}

/** A change as its author sees it, to compare with what others have changed. */
export interface GuardedChange {
  /** The revision that its author has read; undefined where anything goes. */
  readonly revision?: string | undefined
  readonly diff: readonly CatalogueChange[]
  /** A file stays at its revision while its author applies it again and again. */
  readonly isFile: boolean
}

/** More changes than a guard compares; the revision is then too old for any change. */
const comparedMax = 1_000

/** Throws the refusal where another hand has changed an entry of the diff since the revision. */
export async function refuseOverwriting(
  context: Pick<OperationContext, 'actor'>,
  queryable: Queryable,
  change: GuardedChange,
): Promise<void> {
  const { revision, diff, isFile } = change
  if (revision === undefined || diff.length === 0) return
  if (!(await isOfThisStore(queryable, revision))) {
    if (isFile) return
    throw invalidField('revision', 'is not one of this store; read the catalogue again')
  }
  const after = readRevision(revision)?.sequence ?? 0
  const since = await listActionsAfter(queryable, { actions, after, countMax: comparedMax + 1 })
  const isOwn = ({ actor, detail }: ActionView): boolean =>
    isFile && actor === context.actor && detail['revision'] === revision
  const isTooOld = since.length > comparedMax
  // The newest change of an entry decides: its author knows those before it.
  const open = new Set(diff.map(placeOf))
  const clashes: Clash[] = []
  for (const action of since) {
    const changes = changesOf(action).filter((one) => isTooOld || open.has(placeOf(one)))
    if (isOwn(action)) for (const one of changes) open.delete(placeOf(one))
    else if (changes.length > 0) clashes.push({ ...viewOf(action), diff: changes })
  }
  if (clashes.length > 0) throw changedMeanwhile(explain(clashes), clashes.slice(0, shownMax))
}

/** Whether the store has the change of this revision: that of another store means nothing here. */
export async function isOfThisStore(queryable: Queryable, revision: string): Promise<boolean> {
  const { sequence = 0, mark } = readRevision(revision) ?? {}
  if (sequence === 0) return true
  const found = await findNewestAction(queryable, actions, sequence)
  return found?.sequence === sequence && markOf(found) === mark
}

function placeOf({ kind, name }: CatalogueChange): string {
  return `${kind} ${name}`
}

const importedForm = z.array(z.object({ model: z.string(), changes: z.array(fieldChangeForm) }))

/** The entries that a recorded action has changed. */
function changesOf({ detail }: ActionView): readonly CatalogueChange[] {
  const applied = z.array(catalogueChangeForm).safeParse(detail['diff'])
  if (applied.success) return applied.data
  const imported = importedForm.safeParse(detail['models'])
  return (imported.data ?? []).map(({ model: name, changes }) => ({
    action: 'change',
    kind: 'model',
    name,
    changes,
  }))
}

const shownMax = 20

type Clash = ReturnType<typeof viewOf> & { readonly diff: readonly CatalogueChange[] }

function viewOf({ at, actor, actor_name: name, action, subject }: ActionView) {
  return { at, actor, actor_name: name, action, subject }
}

function explain(clashes: readonly Clash[]): string {
  const lines = clashes.slice(0, shownMax).map(({ at, actor, actor_name: name, diff }) => {
    const entries = diff.map((one) => `${one.action} ${placeOf(one)}${fieldsOf(one)}`)
    return `${at} ${name ?? actor}: ${entries.join('; ')}`
  })
  if (clashes.length > shownMax) lines.push(`and ${clashes.length - shownMax} more changes`)
  return `Others have changed since what this would change:\n${lines.join('\n')}\nNothing was changed. Read or export it again, or repeat this with force.`
}

function fieldsOf({ changes }: CatalogueChange): string {
  const fields = changes.map(({ field }) => field)
  return fields.length === 0 ? '' : ` (${fields.join(', ')})`
}
