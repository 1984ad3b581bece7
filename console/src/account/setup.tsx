/** How to set up a client: the account's base addresses, and lines to copy for each client. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Card, Notice } from '../ui/card.tsx'
import { CopyButton, Snippet } from '../ui/copy.tsx'
import { SelectField } from '../ui/field.tsx'
import { Empty, Failure, Loading } from '../ui/states.tsx'
import { goTo, useAddress } from './address.ts'
import { allClients } from './agent-snippets.ts'
import type { ModelPrice } from './forms.ts'
import { priceIn } from './price-words.ts'
import { pricesQuery } from './queries.ts'
import { baseAddress, type Client } from './snippets.ts'
import { ViewLink } from './view-link.tsx'

export function Setup() {
  const { data, error, refetch } = useQuery(pricesQuery)
  if (data === undefined)
    return error === null ? (
      <Loading rows={8} />
    ) : (
      <Failure error={error} onRetry={() => void refetch()} />
    )
  if (data.prices.length === 0)
    return (
      <Empty title="The gateway offers no model yet.">
        Ask your operator when there will be one.
      </Empty>
    )
  return (
    <>
      <BaseAddresses prices={data.prices} />
      <ClientSetup prices={data.prices} />
    </>
  )
}

const formatNames: Readonly<Record<string, string>> = {
  messages: 'messages, as Anthropic’s clients send it',
  chat: 'chat completions and Responses, as OpenAI’s clients send it',
}

function BaseAddresses({ prices }: { prices: readonly ModelPrice[] }) {
  const vendors = new Map(prices.map(({ vendor, format }) => [vendor, format]))
  return (
    <Card title="Base addresses" hint="A client needs a base address and a key (cr_…).">
      <ul className="addresses">
        {[...vendors].map(([vendor, format]) => {
          const address = baseAddress(location.origin, vendor, format)
          return (
            <li key={vendor}>
              <div>
                <code className="break">{address}</code>
                <div className="soft">{formatNames[format] ?? format}</div>
              </div>
              <CopyButton text={address} />
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

function ClientSetup({ prices }: { prices: readonly ModelPrice[] }) {
  const address = useAddress()
  const [chosenModel, setModel] = useState('')
  const offered = allClients.filter(({ format }) => modelsFor(format, prices).length > 0)
  const client = offered.find(({ id }) => id === address.client) ?? offered[0]
  if (client === undefined) return <Empty title="The gateway offers no model that answers text." />
  const models = modelsFor(client.format, prices)
  const model = models.find((each) => each.model === chosenModel) ?? models[0]
  if (model === undefined) return null
  const place = {
    origin: location.origin,
    vendor: model.vendor,
    model: model.model,
    smallModel: cheapestBeside(model, models),
  }
  return (
    <Card title="Set up a client">
      <div className="stack">
        <div className="filters">
          <SelectField
            label="Client"
            value={client.id}
            options={offered.map(({ id, name }) => [id, name])}
            onChange={(id) => goTo({ view: 'setup', client: id }, { replaces: true })}
          />
          <SelectField
            label="Model"
            value={model.model}
            options={models.map((each) => [each.model, each.model])}
            onChange={setModel}
          />
        </div>
        <Notice>
          Put one of your keys in place of <code>cr_…</code>. This page does not know them;{' '}
          <ViewLink to={{ view: 'keys' }}>their names</ViewLink> help you to find the right one.
        </Notice>
        {client.parts(place).map(({ title, text }) => (
          <section key={title} className="setup-part" aria-label={title}>
            <h3>{title}</h3>
            <Snippet text={text} label={`${client.name}: ${title}`} />
          </section>
        ))}
        <Hint client={client} />
      </div>
    </Card>
  )
}

function Hint({ client: { id } }: { client: Client }) {
  if (id !== 'codex') return null
  return (
    <p className="soft">Codex uses only the Responses API, so the model’s vendor must offer it.</p>
  )
}

/** A model without a price for output gives embeddings only. */
function modelsFor(format: string, prices: readonly ModelPrice[]): readonly ModelPrice[] {
  return prices.filter(
    (each) => each.format === format && priceIn(each.price, 'output') !== undefined,
  )
}

/** Returns the cheapest model of the same vendor, for small tasks. */
function cheapestBeside(model: ModelPrice, models: readonly ModelPrice[]): string {
  const costOf = ({ price }: ModelPrice): number => Number(priceIn(price, 'output') ?? 0)
  const [cheapest = model] = models
    .filter(({ vendor }) => vendor === model.vendor)
    .toSorted((one, other) => costOf(one) - costOf(other))
  return cheapest.model
}
