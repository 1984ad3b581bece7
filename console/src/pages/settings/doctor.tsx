/** The check of store, catalogue and vendors, with advice. */
import { useMutation } from '@tanstack/react-query'
import { Stethoscope } from 'lucide-react'
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, type Tone } from '../../ui/card.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'

const tones: Readonly<Record<'ok' | 'advice' | 'problem', Tone>> = {
  ok: 'good',
  advice: 'warn',
  problem: 'bad',
}

export function Doctor() {
  const mayRun = useMay('operator')
  const running = useMutation({ mutationFn: () => bodyOf(api.POST('/admin/v1/doctor')) })
  const findings = running.data?.findings
  return (
    <Card
      title="Doctor"
      hint="Looks for problems in store, books, proxies, catalogue, vendors and access."
      isFlush={findings !== undefined}
      actions={
        mayRun && (
          <Button look="primary" isBusy={running.isPending} onClick={() => running.mutate()}>
            <Stethoscope aria-hidden /> Run now
          </Button>
        )
      }
    >
      {running.isPending && <Loading />}
      {running.error !== null && <Failure error={running.error} />}
      {findings !== undefined && !running.isPending && (
        <Table
          caption="Findings"
          rows={findings}
          rowKey={({ area, message }) => `${area} ${message}`}
          rowTone={({ status }) => (status === 'problem' ? 'bad' : undefined)}
          columns={[
            { name: 'Area', cell: ({ area }) => area },
            {
              name: 'Result',
              cell: ({ status }) => <Badge tone={tones[status]}>{status}</Badge>,
            },
            { name: 'Finding', cell: ({ message }) => message },
          ]}
        />
      )}
      {running.isIdle && (
        <Empty title="Not run yet.">
          {mayRun ? 'A run takes some seconds and asks each vendor.' : 'An operator can run it.'}
        </Empty>
      )}
    </Card>
  )
}
