/** Everything else that the record has: ids, where the request came from, and what it asked for. */
import { Link } from '@tanstack/react-router'
import { Card, Facts } from '../../ui/card.tsx'
import { CopyIcon } from '../../ui/copy.tsx'
import { Missing, Time } from '../../ui/values.tsx'
import type { RequestInFull } from './queries.ts'

export function FactsOf({ request }: { request: RequestInFull }) {
  const { account_id: account, key_id: key, channel, model, marks, stream } = request
  const facts = {
    Id: <Id text={request.id} name="id" />,
    "Vendor's id": <Id text={request.vendor_request_id} name="vendor's id" />,
    Account: (
      <Link to="/accounts/$account" params={{ account }}>
        {request.account}
      </Link>
    ),
    Key: (
      <Link to="/requests" search={{ key }} data-tip={`All requests of the key ${key}`}>
        {request.key ?? key}
      </Link>
    ),
    'Key id': <Id text={key} name="key id" />,
    Model:
      model === null ? (
        <Missing why="No model was named" />
      ) : (
        <Link to="/requests" search={{ model }} data-tip="All requests of the model">
          {model}
        </Link>
      ),
    Vendor: request.vendor,
    Channel:
      channel === null ? (
        <Missing why="No channel answered" />
      ) : (
        <Link to="/channels/$channel" params={{ channel }}>
          {channel}
        </Link>
      ),
    Operation: request.operation ?? <Missing why="Not an operation" />,
    Answer: stream === null ? <Missing why="Not read" /> : stream ? 'Stream' : 'Whole',
    Status: String(request.status),
    Started: <Time at={request.started_at} />,
    Ended: <Time at={request.ended_at} />,
    Client: request.client ?? <Missing why="Not known" />,
    Address: request.address ?? <Missing why="Not recorded" />,
    Flags: marks.length === 0 ? <Missing why="None" /> : marks.join(', ').replaceAll('_', ' '),
  }
  return (
    <Card title="Facts">
      <Facts items={Object.entries(facts)} />
    </Card>
  )
}

function Id({ text, name }: { text: string | null; name: string }) {
  if (text === null) return <Missing why="None" />
  return (
    <span className="request-id">
      <code className="break">{text}</code>
      <CopyIcon text={text} label={`Copy ${name}`} />
    </span>
  )
}
