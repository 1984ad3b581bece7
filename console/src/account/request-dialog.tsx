/** One request: what became of it, and its cost line by line. */
import { useQuery } from '@tanstack/react-query'
import { Badge, Facts, Notice } from '../ui/card.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Failure, Loading } from '../ui/states.tsx'
import { Duration, Missing, Time } from '../ui/values.tsx'
import { VendorErrorNotice } from '../ui/vendor-error.tsx'
import { BillTable } from './bill-table.tsx'
import type { RequestInFull } from './forms.ts'
import { requestQuery } from './queries.ts'
import { outcomeOf } from './words.ts'

interface RequestDialogProps {
  readonly id: string | undefined
  readonly onClose: () => void
}

export function RequestDialog({ id, onClose }: RequestDialogProps) {
  return (
    <Dialog title="Request" isOpen={id !== undefined} onClose={onClose} isWide>
      {id !== undefined && <Body id={id} />}
    </Dialog>
  )
}

function Body({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(requestQuery(id))
  if (data !== undefined) return <Explained request={data} />
  if (error === null) return <Loading rows={8} />
  return <Failure error={error} onRetry={() => void refetch()} />
}

function Explained({ request }: { request: RequestInFull }) {
  const { name, tone } = outcomeOf(request.outcome)
  return (
    <div className="stack">
      <div className="row">
        <Badge tone={tone}>{name}</Badge>
        <span>{request.explanation}</span>
      </div>
      {request.vendor_error !== null && <VendorErrorNotice error={request.vendor_error} />}
      <div className="request-facts">
        <Facts
          items={[
            ['Model', request.model ?? <Missing why="The request named no model of the gateway" />],
            ['Key', request.key ?? request.key_id],
            ['Began', <Time key="began" at={request.started_at} />],
            ['Took', <Took key="took" request={request} />],
            ['First event', <Duration key="first" ms={request.first_event_ms} />],
            ['Status', <Status key="status" request={request} />],
            ['Operation', request.operation ?? <Missing why="None of the gateway" />],
            ['Answer', answerText(request)],
          ]}
        />
      </div>
      <h3>Cost</h3>
      <BillTable request={request} />
      {request.estimated && (
        <Notice>The vendor reported no counts, so the gateway has estimated them.</Notice>
      )}
      {request.requests > 1 && (
        <Notice>
          This line stands for {request.requests} refused requests. It shows the first.
        </Notice>
      )}
      <h3>For support</h3>
      <Id name="Request id" value={request.id} />
      {request.vendor_request_id !== null && (
        <Id name="The vendor’s id" value={request.vendor_request_id} />
      )}
    </div>
  )
}

function Took({ request }: { request: RequestInFull }) {
  return <Duration ms={Date.parse(request.ended_at) - Date.parse(request.started_at)} />
}

function Status({ request: { status, code } }: { request: RequestInFull }) {
  return (
    <>
      {status}
      {code !== null && (
        <>
          {' '}
          <code>{code}</code>
        </>
      )}
    </>
  )
}

function answerText({ stream }: RequestInFull): string {
  if (stream === null) return 'none'
  return stream ? 'streamed' : 'whole'
}

function Id({ name, value }: { name: string; value: string }) {
  return (
    <div className="holder-id">
      <span className="soft">{name}</span>
      <code className="break">{value}</code>
      <CopyButton text={value} />
    </div>
  )
}
