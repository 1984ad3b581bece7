/** How to set up a client: the account's base addresses, and lines to copy for each client. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { t } from '../messages/t.ts'
import { Card, Notice } from '../ui/card.tsx'
import { CopyButton, Snippet } from '../ui/copy.tsx'
import { SelectField } from '../ui/field.tsx'
import { Stack } from '../ui/layout.tsx'
import { Empty, Shown } from '../ui/states.tsx'
import { goTo, useAddress, ViewLink } from './address.tsx'
import type { ModelPrice } from './answers.ts'
import { priceIn } from './prices.tsx'
import { pricesQuery } from './read.ts'
import { baseAddress, clients } from './snippets.ts'

export function Setup() {
  return (
    <Shown query={useQuery(pricesQuery)}>
      {({ prices }) =>
        prices.length === 0 ? (
          <Empty title={t('account.noModels')}>{t('account.askWhen')}</Empty>
        ) : (
          <>
            <BaseAddresses prices={prices} />
            <ClientSetup prices={prices} />
          </>
        )
      }
    </Shown>
  )
}

function formatWord(format: string): string {
  return format === 'messages' || format === 'chat' ? t(`account.formats.${format}`) : format
}

function BaseAddresses({ prices }: { prices: readonly ModelPrice[] }) {
  const vendors = new Map(prices.map(({ vendor, format }) => [vendor, format]))
  return (
    <Card title={t('account.baseAddresses')} hint={t('account.baseHint')}>
      <Stack as="ul">
        {[...vendors].map(([vendor, format]) => {
          const address = baseAddress(location.origin, vendor, format)
          return (
            <li key={vendor} className="row row-between">
              <div>
                <code className="break">{address}</code>
                <div className="soft small">{formatWord(format)}</div>
              </div>
              <CopyButton text={address} />
            </li>
          )
        })}
      </Stack>
    </Card>
  )
}

function ClientSetup({ prices }: { prices: readonly ModelPrice[] }) {
  const address = useAddress()
  const [chosenModel, setModel] = useState('')
  const offered = clients.filter(({ format }) => modelsFor(format, prices).length > 0)
  const client = offered.find(({ id }) => id === address.client) ?? offered[0]
  if (client === undefined) return <Empty title={t('account.noTextModel')} />
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
    <Card title={t('account.setUpClient')}>
      <Stack>
        <div className="row row-end filters">
          <SelectField
            label={t('account.client')}
            value={client.id}
            options={offered.map(({ id, name }) => [id, name])}
            onChange={(id) => goTo({ view: 'setup', client: id }, { replaces: true })}
          />
          <SelectField
            label={t('account.model')}
            value={model.model}
            options={models.map((each) => [each.model, each.model])}
            onChange={setModel}
          />
        </div>
        <Notice>
          {t.rich('account.putKey', {
            code: (text) => <code>{text}</code>,
            link: (text) => <ViewLink to={{ view: 'keys' }}>{text}</ViewLink>,
          })}
        </Notice>
        {client.parts(place).map(({ title, text }) => (
          <Stack as="section" isTight key={title} aria-label={title}>
            <h3>{title}</h3>
            <Snippet text={text} label={`${client.name}: ${title}`} />
          </Stack>
        ))}
        {client.id === 'codex' && <p className="soft">{t('account.codexHint')}</p>}
      </Stack>
    </Card>
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
