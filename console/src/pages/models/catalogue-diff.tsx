/** What an apply would change, entry by entry. */
import { Button } from '../../ui/button.tsx'
import { Badge, Card, Notice, type Tone } from '../../ui/card.tsx'
import type { CatalogueResult } from './changes.ts'
import { FieldChanges } from './field-changes.tsx'

type Entry = CatalogueResult['diff'][number]

const actions: Readonly<Record<Entry['action'], readonly [string, Tone]>> = {
  add: ['Added', 'good'],
  change: ['Changed', 'accent'],
  retire: ['Retired', 'bad'],
}

interface CatalogueDiffProps {
  readonly result: CatalogueResult
  readonly isBusy: boolean
  readonly onApply: () => void
}

export function CatalogueDiff({ result: { diff, notes }, isBusy, onApply }: CatalogueDiffProps) {
  if (diff.length === 0)
    return <Notice>Nothing changes: the file means the same as the stored catalogue.</Notice>
  return (
    <Card
      title="Changes"
      hint={summaryOf(diff)}
      isFlush
      actions={
        <Button look="primary" isBusy={isBusy} onClick={onApply}>
          Apply
        </Button>
      }
    >
      <ul className="models-diff">
        {diff.map((entry) => (
          <li key={`${entry.kind} ${entry.name}`}>
            <DiffEntry entry={entry} />
          </li>
        ))}
      </ul>
      {notes.length > 0 && (
        <div className="models-notes">
          <h3>Worth knowing</h3>
          <ul className="models-mistakes">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </div>
      )}
    </Card>
  )
}

export function DiffEntry({ entry: { action, kind, name, changes } }: { entry: Entry }) {
  const [text, tone] = actions[action]
  const shown = action === 'add' ? changes.filter(({ to }) => (to ?? '') !== '') : changes
  return (
    <>
      <h3 className="row">
        <Badge tone={tone}>{text}</Badge>
        <span className="break">
          {kind} {name}
        </span>
      </h3>
      {action === 'retire' ? (
        <p className="soft">It serves no requests any more.</p>
      ) : (
        <FieldChanges changes={shown} isNew={action === 'add'} />
      )}
    </>
  )
}

function summaryOf(diff: readonly Entry[]): string {
  return (['add', 'change', 'retire'] as const)
    .map((action) => {
      const count = diff.filter((entry) => entry.action === action).length
      return count === 0 ? undefined : `${count} ${actions[action][0].toLowerCase()}`
    })
    .filter((part) => part !== undefined)
    .join(', ')
}
