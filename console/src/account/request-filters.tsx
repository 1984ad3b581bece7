/** The filters of the requests; they are the page's address. */
import { useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { Button } from '../ui/button.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { goTo, useAddress, type Address } from './address.ts'
import { keysQuery, pricesQuery } from './queries.ts'
import { outcomes } from './words.ts'

export function RequestFilters() {
  const address = useAddress()
  const { data: keys = [] } = useQuery(keysQuery)
  const { data: prices } = useQuery(pricesQuery)
  const change = (fields: Partial<Address>): void =>
    goTo({ ...address, ...fields, request: undefined }, { replaces: true })
  const { key = '', model = '', outcome = '', from = '', to = '' } = address
  const isFiltered = [key, model, outcome, from, to].some((given) => given !== '')
  return (
    <div className="filters">
      <SelectField
        label="Key"
        value={key}
        options={withAll(
          keys.map((each) => [each.id, each.name === '' ? each.head : each.name]),
          { all: 'All keys', chosen: key },
        )}
        onChange={(chosen) => change({ key: chosen })}
      />
      <SelectField
        label="Model"
        value={model}
        options={withAll(
          (prices?.prices ?? []).map((each) => [each.model, each.model]),
          { all: 'All models', chosen: model },
        )}
        onChange={(chosen) => change({ model: chosen })}
      />
      <SelectField
        label="Outcome"
        value={outcome}
        options={withAll(
          outcomes.map(([word, name]) => [word, name]),
          { all: 'All outcomes', chosen: outcome },
        )}
        onChange={(chosen) => change({ outcome: chosen })}
      />
      <TextField
        label="From (UTC)"
        type="date"
        value={from}
        onChange={(day) => change({ from: day })}
      />
      <TextField label="To (UTC)" type="date" value={to} onChange={(day) => change({ to: day })} />
      <FindById />
      {isFiltered && <Button onClick={() => goTo({ view: 'requests' })}>Clear</Button>}
    </div>
  )
}

type Option = readonly [value: string, text: string]

/** With a first option for all, and with the chosen value where the list does not have it. */
function withAll(
  options: readonly Option[],
  { all, chosen }: { readonly all: string; readonly chosen: string },
): readonly Option[] {
  const isKnown = chosen === '' || options.some(([value]) => value === chosen)
  return [['', all], ...options, ...(isKnown ? [] : [[chosen, chosen] as const])]
}

/** Opens a request by the id that its answer had. */
function FindById() {
  const address = useAddress()
  const [id, setId] = useState('')
  const open = (event: FormEvent): void => {
    event.preventDefault()
    if (id.trim() !== '') goTo({ ...address, request: id.trim() })
  }
  return (
    <form className="holder-find" onSubmit={open}>
      <TextField
        label="Request id"
        placeholder="ex_… or the vendor’s"
        value={id}
        onChange={setId}
      />
      <Button type="submit">Open</Button>
    </form>
  )
}
