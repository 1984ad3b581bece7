/** One request: its outcome in words, its attempts on a time line, its cost and all recorded facts. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Problem } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, Figure, Figures } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Count, Duration, Missing, Time, Usd } from '../../ui/values.tsx'
import { Attempts } from './attempts.tsx'
import { Bill } from './bill.tsx'
import { FactsOf } from './facts.tsx'
import { Margin } from './margin.tsx'
import { requestQuery, type RequestInFull } from './queries.ts'
import { RefundDialog } from './refund-dialog.tsx'
import { WhatHappened } from './what-happened.tsx'
import { durationMsOf } from './words.ts'
import './request.css'

export function RequestPage() {
  const { request: id } = useParams({ from: '/shell/requests/$request' })
  const { data, error, refetch } = useQuery(requestQuery(id))
  if (data !== undefined) return <Found request={data} />
  return (
    <Page title="Request" trail={<Trail />}>
      <Card>
        {error === null && <Loading rows={8} />}
        {error instanceof Problem && error.status === 404 && (
          <Empty title="This request is not in the log.">
            {error.message}
            <Link to="/requests" search={{}} className={buttonClass()}>
              Go to the requests
            </Link>
          </Empty>
        )}
        {error !== null && !(error instanceof Problem && error.status === 404) && (
          <Failure error={error} onRetry={() => void refetch()} />
        )}
      </Card>
    </Page>
  )
}

function Trail() {
  return (
    <Link to="/requests" search={{}}>
      Requests
    </Link>
  )
}

function Found({ request }: { request: RequestInFull }) {
  const [isRefunding, setIsRefunding] = useState(false)
  const mayRefund = useMay('operator') && request.refund === null && Number(request.cost_usd) > 0
  return (
    <Page
      title={request.model ?? request.operation ?? 'Request'}
      trail={<Trail />}
      hint={
        <>
          <Time at={request.started_at} /> · {request.account} · <code>{request.id}</code>
        </>
      }
      actions={
        <>
          <CopyButton text={request.id} label="Copy id" />
          {mayRefund && <Button onClick={() => setIsRefunding(true)}>Refund</Button>}
        </>
      }
    >
      <WhatHappened request={request} />
      <RequestFigures request={request} />
      <Attempts request={request} />
      <div className="request-money">
        <Bill request={request} />
        <Margin request={request} />
      </div>
      <FactsOf request={request} />
      {isRefunding && <RefundDialog request={request} onClose={() => setIsRefunding(false)} />}
    </Page>
  )
}

function chargeNote(cost: string): string {
  return cost === '0' ? 'nothing charged' : 'charged to the account'
}

function RequestFigures({ request }: { request: RequestInFull }) {
  const {
    cost_usd,
    refund,
    input_tokens: input,
    output_tokens: output,
    cache_tokens: cache,
    total_tokens: total,
  } = request
  return (
    <Figures>
      <Figure
        label="Cost"
        value={<Usd value={cost_usd} />}
        note={
          refund === null ? (
            chargeNote(cost_usd)
          ) : (
            <>
              <Usd value={refund.amount_usd} /> given back
            </>
          )
        }
      />
      <Figure
        label="Tokens"
        value={total === 0 ? <Missing why="No tokens" /> : <Count value={total} />}
        note={
          <>
            <Count value={input} /> in, <Count value={output} /> out
            {cache > 0 && (
              <>
                , <Count value={cache} /> from or into the cache
              </>
            )}
          </>
        }
      />
      <Figure
        label="First event"
        value={<Duration ms={request.first_event_ms} />}
        note={
          request.attempts.length > 1
            ? 'since the request came, failed attempts included'
            : 'since the request came'
        }
      />
      <Figure
        label="Duration"
        value={<Duration ms={request.requests > 1 ? null : durationMsOf(request)} />}
        note={request.stream === true ? 'until the stream ended' : 'until the answer ended'}
      />
    </Figures>
  )
}
