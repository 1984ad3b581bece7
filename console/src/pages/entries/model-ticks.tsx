/** The models that a vendor lists, to tick: those of the catalogue, and others with the prices proposed. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/card.tsx'
import { CheckField, TextField } from '../../ui/field.tsx'
import { formatDay } from '../../ui/format.ts'
import { describeFailure } from '../../ui/states.tsx'
import { servedOf, type KnownModels, type Served, type Start } from './channel-plan.ts'
import { listVendorModels, type CataloguePatch, type VendorModel } from './requests.ts'
import { NotReached } from './test-result.tsx'

interface ModelTicksProps {
  readonly channel: string
  readonly draft: CataloguePatch
  readonly start: Start
  readonly known: KnownModels
  readonly errorOf: (model: string) => string | undefined
  readonly onChange: (served: readonly Served[]) => void
}

export function ModelTicks(props: ModelTicksProps) {
  const { channel, draft, start, known, errorOf, onChange } = props
  const { served } = known
  const fetching = useMutation({ mutationFn: () => listVendorModels(channel, draft) })
  const [wanted, setWanted] = useState('')
  const found = fetching.data
  const listed = found?.models ?? []
  const shown = sorted(listed)
    .filter(({ id }) => id.toLowerCase().includes(wanted.toLowerCase()))
    // A model belongs to one vendor.
    .filter(({ model_vendor: vendor }) => vendor === null || vendor === start.vendor)
  const hiddenCount = listed.filter(
    ({ model_vendor: vendor }) => vendor !== null && vendor !== start.vendor,
  ).length
  const change = (id: string, next: Served | undefined): void => {
    const others = served.filter((one) => one.id !== id)
    onChange(next === undefined ? others : [...others, next])
  }
  return (
    <fieldset className="entry-ticks">
      <legend>Models</legend>
      <div className="row">
        <Button isBusy={fetching.isPending} onClick={() => fetching.mutate()}>
          Fetch its models
        </Button>
        {listed.length > manyModels && (
          <TextField label="Part of a name" type="search" value={wanted} onChange={setWanted} />
        )}
      </div>
      {fetching.error !== null && (
        <Notice tone="bad">{describeFailure(fetching.error).title}</Notice>
      )}
      {found !== undefined && found.outcome !== 'ok' && (
        <NotReached name={channel} reached={found} />
      )}
      <div className="entry-models">
        {shown.map((model) => (
          <Tick
            key={model.id}
            model={model}
            served={served.find(({ id }) => id === model.id)}
            error={errorOf(model.model ?? model.id)}
            onTick={(isTicked) =>
              change(model.id, isTicked ? servedOf(model, start, known) : undefined)
            }
            onChange={(next) => change(model.id, next)}
          />
        ))}
        {served
          .filter(({ id }) => !listed.some((model) => model.id === id))
          .map((one) => (
            <Tick
              key={one.id}
              model={notListed(one.id, start)}
              served={one}
              error={errorOf(one.model)}
              onTick={() => change(one.id, undefined)}
              onChange={(next) => change(one.id, next)}
            />
          ))}
      </div>
      {hiddenCount > 0 && (
        <p className="soft">
          {hiddenCount} more {hiddenCount === 1 ? 'belongs' : 'belong'} to another vendor of the
          catalogue.
        </p>
      )}
      {found?.outcome === 'ok' && !found.is_complete && (
        <p className="soft">The vendor has more than it lists at once; add others below.</p>
      )}
      <NotListed
        faultOf={(id) => faultOf(id, start, known)}
        onAdd={(id) => change(id, servedOf(notListed(id, start), start, known))}
      />
    </fieldset>
  )
}

/** From there on a list needs a search. */
const manyModels = 12

/** Those that are known first. */
function sorted(models: readonly VendorModel[]): readonly VendorModel[] {
  const order = ({ model, proposal }: VendorModel): number =>
    model !== null ? 0 : proposal !== null ? 1 : 2
  return models.toSorted((one, other) => order(one) - order(other) || compare(one.id, other.id))
}

function compare(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true })
}

/** A model that the vendor does not list; the starting catalogue may know its price. */
function notListed(id: string, start: Start): VendorModel {
  const proposal = start.models[id] ?? null
  return {
    id,
    model: null,
    model_vendor: null,
    proposal,
    listed_as: null,
    prices_read_on: proposal === null ? null : start.pricesReadOn,
  }
}

interface TickProps {
  readonly model: VendorModel
  readonly served: Served | undefined
  readonly error: string | undefined
  readonly onTick: (isTicked: boolean) => void
  readonly onChange: (served: Served) => void
}

function Tick({ model, served, error, onTick, onChange }: TickProps) {
  const isNew = served?.entry !== undefined
  return (
    <div className="entry-tick">
      <CheckField
        label={model.id}
        {...hintOf(model)}
        value={served !== undefined}
        onChange={onTick}
      />
      {isNew && (
        <div className="form-pair">
          <TextField
            label="Input, per million"
            unit="$"
            inputMode="decimal"
            value={served.input}
            onChange={(input) => onChange({ ...served, input })}
          />
          <TextField
            label="Output, per million"
            unit="$"
            inputMode="decimal"
            value={served.output}
            onChange={(output) => onChange({ ...served, output })}
          />
        </div>
      )}
      {error !== undefined && <p className="field-hint bad">{error}</p>}
    </div>
  )
}

function hintOf({ id, model, proposal, prices_read_on: day }: VendorModel): { hint?: string } {
  if (model !== null && model !== id) return { hint: `${model} in the catalogue` }
  if (model !== null) return { hint: 'In the catalogue, with its price' }
  if (proposal === null) return {}
  return { hint: day === null ? 'Prices proposed' : `Prices of ${formatDay(day)} proposed` }
}

/** Why this channel cannot serve a model. */
function faultOf(id: string, { vendor }: Start, { vendors, served }: KnownModels) {
  if (served.some((one) => one.id === id)) return 'It is chosen already.'
  const owner = vendors.get(id)
  if (owner === undefined || owner === vendor) return undefined
  return `The catalogue has it as a model of ${owner}.`
}

interface NotListedProps {
  readonly faultOf: (id: string) => string | undefined
  readonly onAdd: (id: string) => void
}

function NotListed({ faultOf: findFault, onAdd }: NotListedProps) {
  const [id, setId] = useState('')
  const fault = findFault(id.trim())
  return (
    <div className="entry-add">
      <TextField
        label="A model that is not listed"
        hint="Its id at the vendor"
        spellCheck={false}
        value={id}
        error={fault}
        onChange={setId}
      />
      <Button
        disabled={id.trim() === '' || fault !== undefined}
        onClick={() => {
          onAdd(id.trim())
          setId('')
        }}
      >
        Add
      </Button>
    </div>
  )
}
