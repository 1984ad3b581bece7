/** The statement of an account for a period: to look at its end, and to download as a whole. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { TextField } from '../../ui/field.tsx'
import { readAccountSearch } from './address.ts'
import type { Account } from './queries.ts'

export function StatementTab({ account }: { account: Account }) {
  const search = useSearch({ from: '/shell/accounts/$account' })
  const navigate = useNavigate({ from: '/accounts/$account' })
  const period = { from: search.from ?? firstOfMonth(), to: search.to ?? today() }
  const change = (changes: { from?: string; to?: string }): void =>
    void navigate({ search: readAccountSearch({ ...search, ...changes }), replace: true })
  return (
    <Card
      title="Statement"
      hint="Every credit and charge with its calculation. Both days are included (UTC)."
      actions={
        <>
          <DownloadLink account={account} period={period} format="csv" />
          <DownloadLink account={account} period={period} format="json" />
        </>
      }
    >
      <div className="filters">
        <TextField
          label="From"
          type="date"
          value={period.from}
          max={period.to}
          onChange={(from) => change({ from })}
        />
        <TextField
          label="To"
          type="date"
          value={period.to}
          min={period.from}
          onChange={(to) => change({ to })}
        />
      </div>
    </Card>
  )
}

interface Period {
  readonly from: string
  readonly to: string
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}

function firstOfMonth(): string {
  return `${today().slice(0, 8)}01`
}

interface DownloadProps {
  readonly account: Account
  readonly period: Period
  readonly format: 'csv' | 'json'
}

/** The browser writes the file while the gateway sends it, so that its length does not matter. */
function DownloadLink({ account, period, format }: DownloadProps) {
  const query = new URLSearchParams({ ...period, format }).toString()
  const name = `${account.name} ${period.from} ${period.to}.${format}`
  return (
    <a
      className={buttonClass()}
      href={`/admin/v1/accounts/${encodeURIComponent(account.id)}/statement?${query}`}
      download={name}
    >
      <Download aria-hidden /> {format.toUpperCase()}
    </a>
  )
}
