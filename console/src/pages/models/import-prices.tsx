/** Imports prices from the community's list: choose the file, see the changes by model, apply a choice. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Notice } from '../../ui/card.tsx'
import { FileField, TextField, type ChosenFile } from '../../ui/field.tsx'
import { describeFailure, Empty, Loading } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import {
  applyImport,
  planImport,
  refreshCatalogue,
  type ImportRequest,
  type PlannedImport,
} from './changes.ts'
import { ImportChoice } from './import-choice.tsx'

export function ImportPrices() {
  const mayChange = useMay('owner')
  if (!mayChange)
    return (
      <Card>
        <Empty title="Only an owner imports prices.">Sign in with an owner’s token.</Empty>
      </Card>
    )
  return <ImportFile />
}

interface ImportChange {
  readonly planned: PlannedImport
  readonly models: readonly string[]
}

function ImportFile() {
  const client = useQueryClient()
  const [file, setFile] = useState<ChosenFile>()
  const [from, setFrom] = useState('')
  const planning = useMutation({
    mutationFn: (asked: ImportRequest) => planImport(client, asked),
    onMutate: () => applying.reset(),
  })
  const planned = planning.data
  const applying = useMutation({
    mutationFn: (change: ImportChange) => applyImport(change.planned, change.models),
    onSuccess(result) {
      void refreshCatalogue(client)
      const count = result.models.filter(({ changes }) => changes.length > 0).length
      announce(`Imported the prices of ${count} ${count === 1 ? 'model' : 'models'}.`)
      planning.reset()
      setFile(undefined)
    },
  })
  return (
    <>
      <Card
        title="Choose a list"
        hint="A file in the shape of model_prices_and_context_window.json. It also fills in what models lack of limits. Nothing changes before you apply it."
      >
        <div className="stack">
          <div className="form-pair">
            <FileField
              // A file that was imported is forgotten.
              key={applying.submittedAt}
              label="Price list"
              accept=".json,application/json"
              onFiles={([chosen]) => {
                setFile(chosen)
                planning.reset()
                applying.reset()
              }}
            />
            <TextField
              label="In force from"
              type="date"
              hint="00:00 UTC of this day. Leave it empty for now."
              value={from}
              onChange={setFrom}
            />
          </div>
          <div>
            <Button
              look={planned === undefined ? 'primary' : 'plain'}
              disabled={file === undefined}
              isBusy={planning.isPending}
              onClick={() => {
                if (file !== undefined) planning.mutate({ text: file.text, from })
              }}
            >
              Show changes
            </Button>
          </div>
        </div>
      </Card>
      {planning.isPending && <Loading rows={5} />}
      {planning.error !== null && <ImportFailure error={planning.error} />}
      {planned !== undefined && (
        <ImportChoice
          key={planning.submittedAt}
          planned={planned}
          isBusy={applying.isPending}
          error={applying.error}
          onPlan={(more) => planning.mutate({ ...planned.request, ...more })}
          onApply={(models) => applying.mutate({ planned, models })}
        />
      )}
    </>
  )
}

function ImportFailure({ error }: { error: Error }) {
  const mistakes = error instanceof Problem ? error.mistakes.filter(isText) : []
  if (mistakes.length === 0) return <Notice tone="bad">{describeFailure(error).title}</Notice>
  return (
    <Notice tone="bad">
      Nothing can be imported, because some prices of the list cannot be taken:
      <ul className="models-mistakes">
        {mistakes.map((mistake) => (
          <li key={mistake}>{mistake}</li>
        ))}
      </ul>
    </Notice>
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
