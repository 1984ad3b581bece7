/** Audits of the books: their results, one with its differences, and a new one at once. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { BookCheck } from 'lucide-react'
import { api, bodyOf } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, Notice, type Tone } from '../../ui/card.tsx'
import { List } from '../../ui/list.tsx'
import { Empty, describeFailure } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { Count, Duration, Time } from '../../ui/values.tsx'
import { AuditDifferences } from './differences.tsx'
import { readAudits, tokenNamesQuery, type AuditRow } from './queries.ts'

const resultTones: Readonly<Record<AuditRow['result'], Tone>> = {
  passed: 'good',
  failed: 'bad',
  not_run: 'warn',
}
const resultNames: Readonly<Record<AuditRow['result'], string>> = {
  passed: 'passed',
  failed: 'failed',
  not_run: 'could not run',
}

export function Books() {
  const { audit } = useSearch({ from: '/shell/audit' })
  const list = useList(['audits', 'list'], readAudits)
  const tokens = useQuery(tokenNamesQuery)
  const nameOf = tokens.data ?? new Map<string, string>()
  return (
    <>
      {audit !== undefined && <AuditDifferences id={audit} />}
      <Card
        title="Audits"
        hint="Gateways audit recent entries every hour. A full audit recomputes everything."
        actions={<RunAudit />}
        isFlush
      >
        <List
          caption="Audits of the books, newest first"
          list={list}
          rowKey={({ id }) => id}
          rowTone={({ result }) => (result === 'failed' ? 'bad' : undefined)}
          empty={<Empty title="No audit yet.">The first one runs within the hour.</Empty>}
          columns={[
            {
              name: 'Time',
              cell: ({ at, id }) => (
                <Link to="/audit" search={{ tab: 'books', audit: id }}>
                  <Time at={at} />
                </Link>
              ),
            },
            {
              name: 'Result',
              cell: ({ result }) => <Badge tone={resultTones[result]}>{resultNames[result]}</Badge>,
            },
            { name: 'Scope', cell: ({ scope }) => (scope === 'full' ? 'everything' : 'recent') },
            {
              name: 'By',
              cell: ({ actor }) => <span data-tip={actor}>{nameOf.get(actor) ?? actor}</span>,
            },
            {
              name: 'Accounts',
              isNumber: true,
              cell: ({ counts }) => <Count value={counts.accounts} />,
            },
            {
              name: 'Entries',
              isNumber: true,
              cell: ({ counts }) => <Count value={counts.entries} />,
            },
            {
              name: 'Differences',
              isNumber: true,
              cell: ({ counts }) => <Count value={counts.differences} />,
            },
            {
              name: 'Took',
              isNumber: true,
              cell: ({ duration_ms: ms }) => <Duration ms={ms} />,
            },
          ]}
        />
      </Card>
    </>
  )
}

function RunAudit() {
  const client = useQueryClient()
  const mayRun = useMay('operator')
  const running = useMutation({
    mutationFn: () => bodyOf(api.POST('/admin/v1/audits')),
    onSuccess: ({ result, counts }) =>
      announce(
        result === 'passed'
          ? 'The books are right.'
          : `The audit has found ${counts.differences} ${counts.differences === 1 ? 'difference' : 'differences'}.`,
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ['audits'] }),
  })
  if (!mayRun) return null
  return (
    <>
      {running.error !== null && <Notice tone="bad">{describeFailure(running.error).title}</Notice>}
      <Button look="primary" isBusy={running.isPending} onClick={() => running.mutate()}>
        <BookCheck aria-hidden />
        {running.isPending ? 'Auditing everything…' : 'Audit everything now'}
      </Button>
    </>
  )
}
