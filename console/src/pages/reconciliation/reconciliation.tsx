/** Reconciliation: compares the charges on a channel with the files that its vendor exports. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Problem } from '../../api/client.ts'
import { channelNamesQuery } from '../../api/names.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Notice } from '../../ui/card.tsx'
import { FileField, SelectField, TextField, type ChosenFile } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { describeFailure, Empty, Loading } from '../../ui/states.tsx'
import { useNow } from '../../ui/values.tsx'
import { lastMonth, type ReconciliationSearch } from './address.ts'
import { reconcile, type Reconciliation as ReconciliationResult } from './queries.ts'
import { Remarks } from './remarks.tsx'
import { Runs } from './runs.tsx'
import { Sums } from './sums.tsx'
import './reconciliation.css'

export function Reconciliation() {
  const mayReconcile = useMay('operator')
  return (
    <Page
      title="Reconciliation"
      hint="Puts what a vendor counts and bills beside what this gateway expects it to."
    >
      {mayReconcile ? (
        <Question />
      ) : (
        <Card>
          <Empty title="Your role does not compare with a vendor’s files.">
            Sign in with the token of an operator or an owner.
          </Empty>
        </Card>
      )}
    </Page>
  )
}

function Question() {
  const search = useSearch({ from: '/shell/reconciliation' })
  const navigate = useNavigate({ from: '/reconciliation' })
  const { data: channels = [] } = useQuery(channelNamesQuery)
  const [files, setFiles] = useState<readonly ChosenFile[]>([])
  const usual = lastMonth(useNow(null))
  const { channel = 'all', from = usual.from, to = usual.to } = search
  const asking = useMutation({ mutationFn: reconcile })
  const change = (fields: Partial<ReconciliationSearch>): void => {
    asking.reset()
    void navigate({ search: (old) => ({ ...old, ...fields }), replace: true })
  }
  const fields = asking.error instanceof Problem ? asking.error.fields : {}
  const names = channel === 'all' || channels.includes(channel) ? channels : [channel, ...channels]
  return (
    <>
      <Card>
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            asking.mutate({ channel, from, to, files })
          }}
        >
          <div className="reconciliation-question">
            <SelectField
              label="Channel"
              value={channel}
              options={[['all', 'All channels'], ...names.map((each) => [each, each] as const)]}
              onChange={(chosen) => change({ channel: chosen })}
              error={fields['channel']}
            />
            <Days from={from} to={to} errors={fields} onChange={change} />
            <FileField
              label="Files of the vendor"
              hint="CSV or JSON, one or several: usage or cost exports of Anthropic and OpenAI, or your own CSV with the columns model, requests, input, output, cost_usd."
              accept=".csv,.json,text/csv,application/json"
              isMultiple
              onFiles={(chosen) => {
                asking.reset()
                setFiles(chosen)
              }}
            />
          </div>
          {asking.error !== null && (
            <Notice tone="bad">{describeFailure(asking.error).title}</Notice>
          )}
          <div>
            <Button type="submit" look="primary" isBusy={asking.isPending}>
              {files.length === 0 ? 'Show the charges' : 'Compare'}
            </Button>
          </div>
        </form>
      </Card>
      {asking.isPending && <Loading rows={6} />}
      {asking.data !== undefined && (
        <Result
          result={asking.data}
          mayAccept={files.length > 0 && asking.variables?.accepted === undefined}
          isBusy={asking.isPending}
          onAccept={(note) => asking.mutate({ channel, from, to, files, accepted: { note } })}
        />
      )}
      <Runs />
    </>
  )
}

interface DaysProps {
  readonly from: string
  readonly to: string
  readonly errors: Readonly<Record<string, string>>
  readonly onChange: (days: { readonly from?: string; readonly to?: string }) => void
}

function Days({ from, to, errors, onChange }: DaysProps) {
  return (
    <>
      <TextField
        label="From"
        type="date"
        hint="Days of UTC, both included"
        value={from}
        max={to}
        onChange={(day) => onChange({ from: day })}
        error={errors['from']}
      />
      <TextField
        label="To"
        type="date"
        value={to}
        min={from}
        onChange={(day) => onChange({ to: day })}
        error={errors['to']}
      />
    </>
  )
}

interface ResultProps extends AcceptanceProps {
  readonly result: ReconciliationResult
  readonly mayAccept: boolean
}

function Result({ result, mayAccept, ...acceptance }: ResultProps) {
  return (
    <>
      <Remarks result={result} />
      <Sums result={result} />
      {mayAccept && <Acceptance {...acceptance} />}
    </>
  )
}

interface AcceptanceProps {
  readonly isBusy: boolean
  readonly onAccept: (note: string) => void
}

/** Keeps the result as accepted, with a note. */
function Acceptance({ isBusy, onAccept }: AcceptanceProps) {
  const [note, setNote] = useState('')
  return (
    <Card title="Accept this result">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          onAccept(note)
        }}
      >
        <TextField label="Note" hint="May be empty" value={note} onChange={setNote} />
        <div>
          <Button type="submit" isBusy={isBusy}>
            Accept
          </Button>
        </div>
      </form>
    </Card>
  )
}
