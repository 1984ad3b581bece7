/** One request in full, as a page and as the sheet of the list: both show the same parts. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Maximize2 } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Problem } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { outcomeTones } from '../../figures/outcomes.ts'
import { t } from '../../messages/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, Facts, Figure, Figures, Notice } from '../../ui/card.tsx'
import { CopyButton, CopyId } from '../../ui/copy.tsx'
import { Columns, Stack } from '../../ui/layout.tsx'
import type { SheetProps } from '../../ui/list/define.ts'
import { SheetHead } from '../../ui/list/sheet.tsx'
import { Page } from '../../ui/page.tsx'
import { Prose } from '../../ui/prose.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Count, Duration, Missing, Time, Usd } from '../../ui/values.tsx'
import { VendorErrorNotice } from '../../ui/vendor-error.tsx'
import { Attempts } from './attempts.tsx'
import { Bill, Margin } from './bill.tsx'
import { clientSaw, OutcomeBadge, Speed } from './outcome.tsx'
import { durationMsOf, requestQuery, type RequestInFull, type RequestLine } from './queries.ts'
import { RefundDialog } from './refund-dialog.tsx'
import './request.css'
import { AccountLink, ChannelLink } from '../links.tsx'

export function RequestPage() {
  const { request: id } = useParams({ from: '/shell/requests/$request' })
  const { data } = useQuery(requestQuery(id))
  return (
    <Page
      title={nameOf(data)}
      trail={
        <Link to="/requests" search={{}}>
          {t('requests.title')}
        </Link>
      }
      hint={data && <Origin of={data} />}
      actions={data && <Actions request={data} />}
    >
      <Parts id={id} />
    </Page>
  )
}

export function RequestSheet({ id, row }: SheetProps<RequestLine>) {
  const { data } = useQuery(requestQuery(id))
  const known = data ?? row
  return (
    <>
      <SheetHead
        title={nameOf(known)}
        hint={known && <Origin of={known} />}
        actions={
          <Link
            to="/requests/$request"
            params={{ request: id }}
            className="icon-button"
            aria-label={t('requests.openPage')}
            data-tip={t('requests.openPage')}
          >
            <Maximize2 aria-hidden />
          </Link>
        }
      />
      <div className="row">{data && <Actions request={data} />}</div>
      <Parts id={id} />
    </>
  )
}

function nameOf(line: Pick<RequestLine, 'model' | 'operation'> | undefined): string {
  return line?.model ?? line?.operation ?? t('requests.request')
}

function Origin({ of: { id, started_at: at, account } }: { of: RequestLine }) {
  return (
    <>
      <Time at={at} /> · {account} · <code className="break">{id}</code>
    </>
  )
}

function Actions({ request }: { request: RequestInFull }) {
  const [isRefunding, setIsRefunding] = useState(false)
  const mayRefund = useMay('operator') && request.refund === null && Number(request.cost_usd) > 0
  return (
    <>
      <CopyButton text={request.id} label={t('requests.copyId')} />
      {mayRefund && <Button onClick={() => setIsRefunding(true)}>{t('requests.refund')}</Button>}
      {isRefunding && <RefundDialog request={request} onClose={() => setIsRefunding(false)} />}
    </>
  )
}

function Parts({ id }: { id: string }) {
  const query = useQuery(requestQuery(id))
  const { error } = query
  if (error instanceof Problem && error.status === 404)
    return (
      <Empty title={t('requests.notFound')}>
        {error.message}
        <Link to="/requests" search={{}} className={buttonClass()}>
          {t('requests.goToRequests')}
        </Link>
      </Empty>
    )
  return (
    <Shown query={query} rows={8}>
      {(request) => (
        <Stack>
          <WhatHappened request={request} />
          <RequestFigures request={request} />
          <Attempts request={request} />
          <Columns>
            <Bill request={request} />
            <Margin request={request} />
          </Columns>
          <Card title={t('requests.facts')}>
            <Facts items={factsOf(request)} />
          </Card>
        </Stack>
      )}
    </Shown>
  )
}

/** What happened, what reached the client, who paid and why, and what to do. */
function WhatHappened({ request }: { request: RequestInFull }) {
  const { outcome, charge_explanation: charge, code, error, refund, requests } = request
  const { vendor_error: vendorError } = request
  const story: [string, ReactNode][] = [
    [t('requests.outcome'), t(`requests.explained.${outcome}`)],
    [t('requests.clientGot'), clientSaw(request)],
    [t('requests.charge'), <Prose key="charge" text={charge} />],
  ]
  if (refund !== null)
    story.push([
      t('requests.refund'),
      t.rich(refund.reason === null ? 'requests.refunded' : 'requests.refundedFor', {
        amount: () => <Usd value={refund.amount_usd} />,
        account: () => <AccountLink id={request.account_id}>{request.account}</AccountLink>,
        time: () => <Time at={refund.at} />,
        reason: refund.reason ?? '',
      }),
    ])
  return (
    <Card title={t('requests.whatHappened')} actions={<OutcomeBadge of={outcome} />}>
      <div className="stack">
        <dl className="pairs">
          {story.map(([name, text]) => [
            <dt key={`${name} name`}>{name}</dt>,
            <dd key={name} className="break">
              {text}
            </dd>,
          ])}
        </dl>
        {vendorError !== null && <VendorErrorNotice error={vendorError} />}
        {code !== null && (
          <Notice tone={outcomeTones[outcome] === 'bad' ? 'warn' : 'neutral'}>
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
            {t.rich('requests.standsForMany', {
              count: requests,
              time: () => <Time at={request.ended_at} />,
            })}
          </Notice>
        )}
      </div>
    </Card>
  )
}

function RequestFigures({ request }: { request: RequestInFull }) {
  const { cost_usd: cost, refund, input_tokens: input, output_tokens: output } = request
  const { cache_tokens: cache, total_tokens: total } = request
  const isOne = request.requests === 1
  return (
    <Figures>
      <Figure
        label={t('requests.cost')}
        value={<Usd value={cost} />}
        note={
          refund !== null
            ? t.rich('requests.givenBack', { amount: () => <Usd value={refund.amount_usd} /> })
            : t(cost === '0' ? 'requests.nothingCharged' : 'requests.chargedToAccount')
        }
      />
      <Figure
        label={t('requests.tokens')}
        value={total === 0 ? <Missing why={t('requests.noTokens')} /> : <Count value={total} />}
        note={t.rich(cache > 0 ? 'requests.inOutCached' : 'requests.inOut', {
          input: () => <Count value={input} />,
          output: () => <Count value={output} />,
          cache: () => <Count value={cache} />,
        })}
      />
      <Figure
        label={t('requests.firstEvent')}
        value={<Duration ms={request.first_event_ms} />}
        note={t(request.attempts.length > 1 ? 'requests.sinceWithFailed' : 'requests.since')}
      />
      <Figure
        label={t('requests.duration')}
        value={<Duration ms={isOne ? durationMsOf(request) : null} />}
        note={t(request.stream === true ? 'requests.untilStreamEnd' : 'requests.untilEnd')}
      />
      <Figure
        label={t('requests.speed')}
        value={<Speed line={request} />}
        note={t('requests.speedNote')}
      />
    </Figures>
  )
}

function factsOf(request: RequestInFull): readonly (readonly [string, ReactNode])[] {
  const { account_id: account, key_id: key, channel, model, marks, stream } = request
  const none = <Missing why={t('requests.factNone')} />
  return [
    [t('requests.id'), <CopyId key="id" text={request.id} label={t('requests.copyId')} />],
    [
      t('requests.vendorId'),
      request.vendor_request_id === null ? (
        none
      ) : (
        <CopyId key="vendor" text={request.vendor_request_id} label={t('requests.copyVendorId')} />
      ),
    ],
    [
      t('requests.account'),
      <AccountLink key="account" id={account}>
        {request.account}
      </AccountLink>,
    ],
    [
      t('requests.key'),
      <Link
        key="key"
        to="/requests"
        search={{ key }}
        data-tip={t('requests.allOfKey', { id: key })}
      >
        {request.key ?? key}
      </Link>,
    ],
    [t('requests.keyId'), <CopyId key="key-id" text={key} label={t('requests.copyKeyId')} />],
    [
      t('requests.model'),
      model === null ? (
        <Missing why={t('requests.noModel')} />
      ) : (
        <Link key="model" to="/requests" search={{ model }} data-tip={t('requests.allOfModel')}>
          {model}
        </Link>
      ),
    ],
    [t('requests.vendor'), request.vendor],
    [
      t('requests.channel'),
      channel === null ? (
        <Missing why={t('requests.noChannel')} />
      ) : (
        <ChannelLink key="channel" name={channel} />
      ),
    ],
    [t('requests.operation'), request.operation ?? none],
    [
      t('requests.answer'),
      stream === null ? none : t(stream ? 'requests.asStream' : 'requests.asWhole'),
    ],
    [t('requests.finishReason'), request.finish_reason ?? none],
    [t('requests.status'), String(request.status)],
    [t('requests.started'), <Time key="started" at={request.started_at} />],
    [t('requests.ended'), <Time key="ended" at={request.ended_at} />],
    [t('requests.client'), request.client ?? none],
    [t('requests.label'), request.label ?? none],
    [t('requests.address'), request.address ?? none],
    [t('requests.flags'), marks.length === 0 ? none : marks.join(', ').replaceAll('_', ' ')],
  ]
}
