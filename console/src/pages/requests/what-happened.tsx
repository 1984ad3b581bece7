/** The outcome in words: what happened, what reached the client, who paid and why, and what to do. */
import { Link } from '@tanstack/react-router'
import { Badge, Card, Notice } from '../../ui/card.tsx'
import { formatInteger } from '../../ui/format.ts'
import { Prose } from '../../ui/prose.tsx'
import { Time, Usd } from '../../ui/values.tsx'
import { VendorErrorNotice } from '../../ui/vendor-error.tsx'
import type { RequestInFull } from './queries.ts'
import { clientSaw, outcomeWords } from './words.ts'

export function WhatHappened({ request }: { request: RequestInFull }) {
  const {
    outcome,
    explanation,
    charge_explanation: charge,
    code,
    error,
    refund,
    requests,
    vendor_error: vendorError,
  } = request
  const [text, tone] = outcomeWords[outcome]
  return (
    <Card title="What happened" actions={<Badge tone={tone}>{text}</Badge>}>
      <div className="stack">
        <dl className="request-story">
          <div>
            <dt>Outcome</dt>
            <dd>{explanation}</dd>
          </div>
          <div>
            <dt>The client got</dt>
            <dd>{clientSaw(request)}</dd>
          </div>
          <div>
            <dt>Charge</dt>
            <dd>
              <Prose text={charge} />
            </dd>
          </div>
          {refund !== null && (
            <div>
              <dt>Refund</dt>
              <dd>
                <Usd value={refund.amount_usd} /> went back to{' '}
                <Link to="/accounts/$account" params={{ account: request.account_id }}>
                  {request.account}
                </Link>{' '}
                at <Time at={refund.at} />
                {refund.reason === null ? ', without a reason.' : `: ${refund.reason}`}
              </dd>
            </div>
          )}
        </dl>
        {vendorError !== null && <VendorErrorNotice error={vendorError} />}
        {code !== null && (
          <Notice tone={tone === 'bad' ? 'warn' : 'neutral'}>
            <p>
              <code className="break">{code}</code>
            </p>
            {error !== null && (
              <>
                <p>
                  <Prose text={error.meaning} />
                </p>
                <p className="soft">
                  <Prose text={error.advice} />
                </p>
              </>
            )}
          </Notice>
        )}
        {requests > 1 && (
          <Notice>
            This line stands for {formatInteger(requests)} requests of the key that ended in the
            same way, and shows the first. The last ended at <Time at={request.ended_at} />.
          </Notice>
        )}
      </div>
    </Card>
  )
}
