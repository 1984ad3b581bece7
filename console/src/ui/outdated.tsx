/**
 * A change of a thing that another operator may change meanwhile. Where that has happened, nothing is saved:
 * the form then has the other's change beside what was typed, and saving again saves both.
 */
import { useState } from 'react'
import { t } from '../messages/t.ts'
import { Problem } from '../problem.ts'
import { Button } from './button.tsx'
import { Notice } from './card.tsx'
import { mergeDrafts, type OtherChange } from './draft.ts'

interface EditOptions<Read, Draft> {
  /** As it was when the form opened: live events must not change it while a person types. */
  readonly read: Read
  readonly draftOf: (read: Read) => Draft
  readonly readAgain: () => Promise<Read>
}

export interface Edit<Read, Draft> {
  readonly read: Read
  readonly before: Draft
  readonly draft: Draft
  readonly setDraft: (draft: Draft) => void
  /** Reads the thing again and merges. */
  readonly merge: () => Promise<void>
  /** Saves, and merges where `If-Match` finds another version. */
  readonly save: <Value>(change: Promise<Value>) => Promise<Value>
  /** Undefined until another operator's change was in the way. */
  readonly others: readonly OtherChange[] | undefined
}

export function useEdit<Read, Draft extends object>(
  options: EditOptions<Read, Draft>,
): Edit<Read, Draft> {
  const { draftOf, readAgain } = options
  const [read, setRead] = useState(options.read)
  const before = draftOf(read)
  const [draft, setDraft] = useState(before)
  const [others, setOthers] = useState<readonly OtherChange[]>()
  const merge = async (): Promise<void> => {
    const fresh = await readAgain()
    const merged = mergeDrafts({ before, mine: draft, theirs: draftOf(fresh) })
    setRead(fresh)
    setDraft(merged.draft)
    setOthers(merged.changes)
  }
  return {
    read,
    before,
    draft,
    setDraft,
    others,
    merge,
    async save(change) {
      try {
        return await change
      } catch (error) {
        if (isOutdated(error)) await merge()
        throw error
      }
    },
  }
}

/** Whether another operator has changed the thing since it was read. */
export function isOutdated(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 412
}

interface OthersChangesProps<Draft> {
  readonly edit: Pick<Edit<unknown, Draft>, 'others' | 'draft' | 'setDraft'>
  readonly labels: Readonly<Record<string, string>>
}

/** What another operator has changed, beside what the person has typed into the same fields. */
export function OthersChanges<Draft extends object>({ edit, labels }: OthersChangesProps<Draft>) {
  const { others, draft, setDraft } = edit
  if (others === undefined) return null
  return (
    <Notice tone="warn">
      {t('ui.others.changed')}
      <ul className="marked">
        {others.map(({ field, theirs, mine }) => (
          <li key={field}>
            {labels[field] ?? field}: <strong className="break">{textOf(theirs)}</strong>
            {mine !== undefined && (
              <>
                {t('ui.others.typed')} <strong className="break">{textOf(mine)}</strong>{' '}
                <Button onClick={() => setDraft({ ...draft, [field]: theirs })}>
                  {t('ui.others.use')}
                </Button>
              </>
            )}
          </li>
        ))}
      </ul>
    </Notice>
  )
}

function textOf(value: unknown): string {
  if (value === null || value === '') return 'not set'
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
