/** Makes a model that channels of the catalogue serve: id, prices, limits, and which channels have it. */
import { useState } from 'react'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { formatDay } from '../../ui/format.ts'
import { announce } from '../../ui/toast.tsx'
import { mainClasses } from '../models/price.ts'
import { nameFault } from './channel-plan.ts'
import { ChangesStep } from './changes-step.tsx'
import type { Draft, Field } from './entry.ts'
import { EntryFields } from './entry-fields.tsx'
import { findPreset, modelPatchOf, renamed, type Channel, type ModelPlan } from './model-plan.ts'
import type { FormFacts } from './queries.ts'
import { sendPatch, type Planned } from './requests.ts'

export function NewModel({ declared, lists, onClose }: FormFacts) {
  const fields = declared.models.filter(({ key }) => key !== 'price' && key !== 'vendor')
  const [plan, setPlan] = useState<ModelPlan>({
    id: '',
    vendor: lists.vendors[0]?.name ?? '',
    draft: {},
    prices: {},
    chosen: new Set(),
  })
  const [planned, setPlanned] = useState<Planned>()
  const { id, vendor } = plan
  const channels = lists.channels.filter((channel) => channel.vendor === vendor)
  const taken = new Set(lists.models.map((model) => model.id))
  const fault = id === '' ? undefined : nameFault(id, taken)
  const send = (isDryRun: boolean): Promise<Planned> =>
    sendPatch(modelPatchOf(fields, plan, channels), { revision: lists.revision, isDryRun })
  if (planned !== undefined)
    return (
      <ChangesStep
        planned={planned}
        onSave={() => send(false)}
        onBack={() => setPlanned(undefined)}
        onSaved={() => {
          announce(`The model ${id} is saved.`)
          onClose()
        }}
      />
    )
  return (
    <Form
      action="Show changes"
      isStep
      isDisabled={id === '' || vendor === '' || fault !== undefined}
      onSubmit={() => send(true)}
      onDone={setPlanned}
      onCancel={onClose}
    >
      {(errorOf) => (
        <ModelInputs
          plan={plan}
          fields={fields}
          declared={declared}
          vendors={lists.vendors.map(({ name }) => name)}
          channels={channels}
          errorOf={(key) => (key === 'id' ? fault : errorOf(`models.${id}.${key}`))}
          onChange={setPlan}
        />
      )}
    </Form>
  )
}

interface ModelInputsProps extends Pick<FormFacts, 'declared'> {
  readonly plan: ModelPlan
  readonly fields: readonly Field[]
  readonly vendors: readonly string[]
  /** Those of the vendor. */
  readonly channels: readonly Channel[]
  readonly errorOf: (key: string) => string | undefined
  readonly onChange: (plan: ModelPlan) => void
}

function ModelInputs(props: ModelInputsProps) {
  const { plan, fields, declared, vendors, channels, errorOf, onChange } = props
  const { presets } = declared
  const known = findPreset(presets, plan.id)
  return (
    <>
      <div className="form-pair">
        <TextField
          label="Id"
          hint="As clients ask for it"
          autoFocus
          spellCheck={false}
          value={plan.id}
          error={errorOf('id')}
          onChange={(text) => onChange(renamed(plan, text.trim(), { presets, fields }))}
        />
        <SelectField
          label="Vendor"
          value={plan.vendor}
          options={vendors.map((name) => [name, name] as const)}
          error={errorOf('vendor')}
          onChange={(vendor) => onChange({ ...plan, vendor })}
        />
      </div>
      <Prices
        prices={plan.prices}
        hint={known && `Those of ${formatDay(known.prices_read_on)}; check them.`}
        error={errorOf('price')}
        onChange={(prices) => onChange({ ...plan, prices })}
      />
      <ServedBy
        channels={channels}
        chosen={plan.chosen}
        onChange={(chosen) => onChange({ ...plan, chosen })}
      />
      <EntryFields
        section="models"
        fields={fields}
        entry={{}}
        draft={plan.draft}
        onChange={(draft) => onChange({ ...plan, draft })}
        errorOf={errorOf}
        names={{ vendors: [], models: [] }}
      />
    </>
  )
}

interface PricesProps {
  readonly prices: Draft
  readonly hint: string | undefined
  readonly error: string | undefined
  readonly onChange: (prices: Draft) => void
}

function Prices({ prices, hint, error, onChange }: PricesProps) {
  return (
    <fieldset className="entry-ticks">
      <legend>Prices in USD per million tokens</legend>
      <p className={error === undefined ? 'field-hint' : 'field-hint bad'}>{error ?? hint}</p>
      <div className="form-pair">
        {mainClasses.map(({ name, title, fallback }) => (
          <TextField
            key={name}
            label={title}
            unit="$"
            inputMode="decimal"
            placeholder={fallback}
            value={prices[name] ?? ''}
            onChange={(text) => onChange({ ...prices, [name]: text })}
          />
        ))}
      </div>
    </fieldset>
  )
}

interface ServedByProps {
  readonly channels: readonly Channel[]
  readonly chosen: ReadonlySet<string>
  readonly onChange: (chosen: ReadonlySet<string>) => void
}

function ServedBy({ channels, chosen, onChange }: ServedByProps) {
  return (
    <fieldset className="entry-ticks">
      <legend>Served by</legend>
      {channels.length === 0 && <p className="soft">This vendor has no channel yet.</p>}
      {channels
        .toSorted((one, other) => one.rank - other.rank)
        .map(({ name, rank }) => (
          <CheckField
            key={name}
            label={name}
            hint={`rank ${rank}, ${rank === 0 ? 'main route' : 'reserve'}`}
            value={chosen.has(name)}
            onChange={(isChosen) => {
              const next = new Set(chosen)
              if (isChosen) next.add(name)
              else next.delete(name)
              onChange(next)
            }}
          />
        ))}
    </fieldset>
  )
}
