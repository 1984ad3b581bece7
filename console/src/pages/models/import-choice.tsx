/** The models of an import with their changes. Each can be left out; one that is not listed can be named. */
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, Notice } from '../../ui/card.tsx'
import { TextField } from '../../ui/field.tsx'
import { describeFailure, Empty } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/values.tsx'
import { isOutdated, type ImportRequest, type ImportResult, type PlannedImport } from './changes.ts'
import { FieldChanges } from './field-changes.tsx'

type Planned = ImportResult['models'][number]

interface ImportChoiceProps {
  readonly planned: PlannedImport
  readonly isBusy: boolean
  readonly error: Error | null
  /** Shows the changes again, with more names. */
  readonly onPlan: (more: Pick<ImportRequest, 'names'>) => void
  readonly onApply: (models: readonly string[]) => void
}

export function ImportChoice(props: ImportChoiceProps) {
  const { planned, isBusy, error, onPlan, onApply } = props
  const { request, result } = planned
  const changed = result.models.filter(({ changes }) => changes.length > 0)
  const same = result.models.filter(({ changes }) => changes.length === 0)
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set())
  const chosen = changed.filter(({ model }) => !leftOut.has(model)).map(({ model }) => model)
  const toggle = (model: string): void => {
    const next = new Set(leftOut)
    if (!next.delete(model)) next.add(model)
    setLeftOut(next)
  }
  return (
    <>
      <Card
        title="Changes"
        hint={`${changed.length} of ${result.models.length} listed models change`}
        isFlush
        actions={
          changed.length > 0 && (
            <Button
              look="primary"
              isBusy={isBusy}
              disabled={chosen.length === 0}
              onClick={() => onApply(chosen)}
            >
              Import {chosen.length} {chosen.length === 1 ? 'model' : 'models'}
            </Button>
          )
        }
      >
        {error !== null && <ApplyFailure error={error} onPlan={() => onPlan({})} />}
        {changed.length === 0 ? (
          <Empty title="Nothing changes.">All listed models have these prices already.</Empty>
        ) : (
          <Table
            caption="Changes of the import"
            columns={columnsOf(leftOut, toggle, request.from !== '')}
            rows={changed}
            rowKey={({ model }) => model}
          />
        )}
      </Card>
      {same.length > 0 && (
        <p className="soft">Already as in the list: {same.map(({ model }) => model).join(', ')}.</p>
      )}
      {result.not_listed.length > 0 && (
        <NotListed
          models={result.not_listed}
          onName={(model, name) => onPlan({ names: { ...request.names, [model]: name } })}
        />
      )}
    </>
  )
}

function ApplyFailure({ error, onPlan }: { error: Error; onPlan: () => void }) {
  if (!isOutdated(error)) return <Notice tone="bad">{describeFailure(error).title}</Notice>
  return (
    <Notice tone="warn">
      <div className="stack">
        Another operator has changed the catalogue since these changes were shown. Nothing was
        imported.
        <div>
          <Button onClick={onPlan}>Load again</Button>
        </div>
      </div>
    </Notice>
  )
}

function columnsOf(
  leftOut: ReadonlySet<string>,
  toggle: (model: string) => void,
  isDated: boolean,
): readonly Column<Planned>[] {
  return [
    {
      name: 'Import',
      cell: ({ model }) => (
        <input
          type="checkbox"
          className="models-check"
          aria-label={`Import ${model}`}
          checked={!leftOut.has(model)}
          onChange={() => toggle(model)}
        />
      ),
    },
    {
      name: 'Model',
      cell: ({ model, listed_as: listedAs, vendor_in_list: vendor }) => (
        <div className="models-name">
          <strong className="break">{model}</strong>
          <div className="soft models-listed">
            {listedAs !== model && <>listed as {listedAs} </>}
            {vendor !== null && <Badge>{vendor}</Badge>}
          </div>
        </div>
      ),
    },
    { name: 'Changes', cell: ({ changes }) => <FieldChanges changes={changes} /> },
    {
      name: 'From',
      cell: ({ valid_from: from }) => (
        <span className="models-from">
          {from === null ? 'The beginning' : isDated ? <Time at={from} /> : 'At once'}
        </span>
      ),
    },
    { name: 'Remarks', cell: (planned) => <Remarks planned={planned} /> },
  ]
}

function Remarks({ planned: { notes, unpriced } }: { planned: Planned }) {
  if (notes.length + unpriced.length === 0) return <span className="soft">None</span>
  return (
    <ul className="models-mistakes">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
      {unpriced.map(({ field, value }) => (
        <li key={field}>
          Not charged: <code className="break">{field}</code> {value}
        </li>
      ))}
    </ul>
  )
}

interface NotListedProps {
  readonly models: readonly string[]
  readonly onName: (model: string, listedAs: string) => void
}

function NotListed({ models, onName }: NotListedProps) {
  const [names, setNames] = useState<Readonly<Record<string, string>>>({})
  return (
    <Card
      title="Not in the list"
      hint="These models keep their prices. Give the name that the list has for a model to import it too."
    >
      <ul className="models-not-listed">
        {models.map((model) => (
          <li key={model}>
            <form
              onSubmit={(event) => {
                event.preventDefault()
                onName(model, (names[model] ?? '').trim())
              }}
            >
              <TextField
                label={model}
                placeholder="Name in the list"
                value={names[model] ?? ''}
                onChange={(name) => setNames({ ...names, [model]: name })}
              />
              <Button type="submit" disabled={(names[model] ?? '').trim() === ''}>
                Look up
              </Button>
            </form>
          </li>
        ))}
      </ul>
    </Card>
  )
}
