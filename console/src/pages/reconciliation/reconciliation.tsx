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
            asking.mutate({ channel, from, to, texts: files.map(({ text }) => text) })
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
            <TextField
              label="From"
              type="date"
              hint="Days of UTC, both included"
              value={from}
              max={to}
              onChange={(day) => change({ from: day })}
              error={fields['from']}
            />
            <TextField
              label="To"
              type="date"
              value={to}
              min={from}
              onChange={(day) => change({ to: day })}
              error={fields['to']}
            />
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
      {asking.data !== undefined && <Result result={asking.data} />}
    </>
  )
}

function Result({ result }: { result: ReconciliationResult }) {
  return (
    <>
      <Remarks result={result} />
      <Sums result={result} />
    </>
  )
}
