/** Saves the statement of a period as a file, exactly as the gateway writes it. */
import { Download } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Card, Notice } from '../ui/card.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { monthOf } from '../ui/months.ts'
import { describeFailure } from '../ui/states.tsx'
import { ask } from './client.ts'
import type { Account } from './forms.ts'
import { saveAnswer } from './save-answer.ts'

type Format = 'csv' | 'json'

export function Statement({ account }: { account: Account }) {
  const [{ from, to }, setPeriod] = useState(() => monthOf(0))
  const [format, setFormat] = useState<Format>('csv')
  const saving = useSaving()
  const isWrong = from === '' || to === '' || from > to
  const save = (): void =>
    saving.start(`statement-${plain(account.name)}-${from}-${to}.${format}`, { from, to, format })
  return (
    <Card
      title="Statement"
      hint="The balance before, each credit, charge and refund with its calculation, and the balance after"
    >
      <div className="stack">
        <div className="filters">
          <TextField
            label="From (UTC)"
            type="date"
            value={from}
            onChange={(day) => setPeriod({ from: day, to })}
          />
          <TextField
            label="To (UTC), included"
            type="date"
            value={to}
            onChange={(day) => setPeriod({ from, to: day })}
          />
          <Button onClick={() => setPeriod(monthOf(0))}>This month</Button>
          <Button onClick={() => setPeriod(monthOf(-1))}>Last month</Button>
        </div>
        <div className="filters">
          <SelectField
            label="Format"
            value={format}
            options={[
              ['csv', 'CSV'],
              ['json', 'JSON'],
            ]}
            onChange={setFormat}
          />
          {saving.isBusy ? (
            <Button onClick={saving.stop}>Stop</Button>
          ) : (
            <Button look="primary" disabled={isWrong} onClick={save}>
              <Download aria-hidden /> Download
            </Button>
          )}
          <span role="status" className="soft">
            {saving.text}
          </span>
        </div>
        {isWrong && <Notice tone="warn">The last day must not be before the first.</Notice>}
        {saving.error !== undefined && (
          <Notice tone="bad">{describeFailure(saving.error).title} Nothing was saved.</Notice>
        )}
      </div>
    </Card>
  )
}

interface Query {
  readonly from: string
  readonly to: string
  readonly format: Format
}

function useSaving() {
  const [text, setText] = useState('')
  const [error, setError] = useState<unknown>()
  const [isBusy, setIsBusy] = useState(false)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const save = async (name: string, query: Query, { signal }: AbortController): Promise<void> => {
    const answer = await ask('/statement', { ...query }, { signal })
    await saveAnswer(answer, name, (bytes) => setText(`${sizeText(bytes)} read…`))
    setText(`Saved as ${name}.`)
  }
  return {
    text,
    error,
    isBusy,
    start(name: string, query: Query): void {
      const controller = new AbortController()
      running.current = controller
      setError(undefined)
      setText('Reading…')
      setIsBusy(true)
      save(name, query, controller)
        .catch((failure: unknown) => {
          setText('')
          if (!controller.signal.aborted) setError(failure)
        })
        .finally(() => setIsBusy(false))
    },
    stop: () => running.current?.abort(),
  }
}

function sizeText(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.round(bytes / 1_000).toLocaleString('en-US')} KB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** For a file name on every system. */
function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60)
}
