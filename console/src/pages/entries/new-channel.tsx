/**
 * Makes a channel from nothing: kind of vendor, address, credential, the models that the vendor lists, a test
 * by a real tiny request, the changes, and Save. A reserve can come with it.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/card.tsx'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { formatDay, formatDuration, formatUsdExact } from '../../ui/format.ts'
import { Group, Pair, Row, Scroll, Stack } from '../../ui/layout.tsx'
import { describeFailure } from '../../ui/states.tsx'
import { failureMeaning, remedyFor } from '../channels/states.ts'
import { pricePaths, type Draft } from './entry.ts'
import { EntryFields, SecretField } from './inputs.tsx'
import { PatchForm } from './patch-form.tsx'
import {
  beginPlan,
  channelFaults,
  channelPatch,
  modelFault,
  notListed,
  reserveOf,
  servedOf,
  startsOf,
  type ChannelPlan,
  type KnownModels,
  type Served,
  type Start,
} from './plans.ts'
import {
  catalogueListQuery,
  listVendorModels,
  testChannel,
  type CataloguePatch,
  type FormFacts,
  type Tested,
  type VendorModel,
  type VendorModels,
} from './requests.ts'

type ErrorOf = (field: string) => string | undefined

/** These have inputs apart from the other fields. */
const askedApart: ReadonlySet<string> = new Set(['vendor', 'models'])

export function NewChannel({ declared, lists }: FormFacts) {
  const client = useQueryClient()
  const fields = declared.channels
  const starts = startsOf(declared.presets, lists)
  const taken = new Set(lists.channels.map(({ name }) => name))
  const [plan, setPlan] = useState<ChannelPlan>()
  const isReady =
    plan !== undefined && plan.served.length > 0 && channelFaults(plan, taken).size === 0
  return (
    <PatchForm
      patch={plan === undefined ? {} : channelPatch(fields, plan)}
      revision={lists.revision}
      readAgain={() => client.fetchQuery(catalogueListQuery)}
      isReady={isReady}
      saved={t('entries.channel.saved', { name: plan?.name ?? '' })}
    >
      {(errorOf) => (
        <>
          <SelectField
            label={t('entries.channel.kind')}
            value={plan?.start.id ?? ''}
            options={[
              ['', t('entries.choose')],
              ...starts.map(({ id, title }) => [id, title] as const),
            ]}
            onChange={(id) => {
              const start = starts.find((one) => one.id === id)
              setPlan(start && beginPlan(fields, start, taken))
            }}
          />
          {plan !== undefined && (
            <PlanInputs
              // What one vendor lists is not what another one does.
              key={plan.start.id}
              plan={plan}
              declared={declared}
              lists={lists}
              errorOf={errorOf}
              onChange={setPlan}
            />
          )}
        </>
      )}
    </PatchForm>
  )
}

interface PlanInputsProps extends FormFacts {
  readonly plan: ChannelPlan
  readonly errorOf: ErrorOf
  readonly onChange: (plan: ChannelPlan) => void
}

function PlanInputs({ plan, declared, lists, errorOf, onChange }: PlanInputsProps) {
  const fields = declared.channels
  const taken = new Set(lists.channels.map(({ name }) => name))
  const faults = channelFaults(plan, taken)
  const errorIn = (channel: string) => (key: string) =>
    key === 'name' ? faults.get(channel) : errorOf(`channels.${channel}.${key}`)
  return (
    <>
      <TextField
        label={t('entries.channel.name')}
        hint={t('entries.channel.nameHint')}
        spellCheck={false}
        value={plan.name}
        error={errorIn(plan.name)('name')}
        onChange={(name) => onChange({ ...plan, name: name.trim() })}
      />
      <EntryFields
        section="channels"
        fields={fields.filter(({ key }) => !askedApart.has(key))}
        entry={{}}
        draft={{ ...plan.draft, models: plan.served.map(({ model }) => model).join('\n') }}
        onChange={(draft) => onChange({ ...plan, draft: { ...draft, models: '' } })}
        errorOf={errorIn(plan.name)}
        known={{ vendors: [], models: [], pricePaths: pricePaths(declared) }}
      />
      <ModelTicks
        channel={plan.name}
        draft={channelPatch(fields, { ...plan, served: [], reserve: undefined })}
        start={plan.start}
        known={{
          vendors: new Map(lists.models.map(({ id, vendor }) => [id, vendor])),
          served: plan.served,
        }}
        errorOf={(model) => errorOf(`models.${model}`)}
        onChange={(served) => onChange({ ...plan, served })}
      />
      <CheckField
        label={t('entries.channel.addReserve')}
        hint={t('entries.channel.addReserveHint')}
        value={plan.reserve !== undefined}
        onChange={(isWanted) =>
          onChange({ ...plan, reserve: isWanted ? reserveOf(plan, taken) : undefined })
        }
      />
      {plan.reserve !== undefined && (
        <Reserve
          reserve={plan.reserve}
          errorOf={errorIn(plan.reserve.name)}
          onChange={(reserve) => onChange({ ...plan, reserve })}
        />
      )}
      <Test plan={plan} patch={channelPatch(fields, plan)} />
    </>
  )
}

interface ReserveProps {
  readonly reserve: NonNullable<ChannelPlan['reserve']>
  readonly errorOf: ErrorOf
  readonly onChange: (reserve: NonNullable<ChannelPlan['reserve']>) => void
}

function Reserve({ reserve, errorOf, onChange }: ReserveProps) {
  const { name, draft } = reserve
  const bound = (key: string) => ({
    value: draft[key] ?? '',
    error: errorOf(key),
    onChange: (text: string) =>
      onChange({ name, draft: { ...draft, [key]: text } satisfies Draft }),
  })
  return (
    <Group title={t('entries.channel.reserve')}>
      <TextField
        label={t('entries.channel.reserveName')}
        spellCheck={false}
        value={name}
        error={errorOf('name')}
        onChange={(text) => onChange({ ...reserve, name: text.trim() })}
      />
      <TextField label={t('entries.channel.reserveAddress')} spellCheck={false} {...bound('url')} />
      <SecretField label={t('entries.channel.reserveCredential')} {...bound('credential')} />
      <TextField label={t('entries.channel.reserveRank')} inputMode="numeric" {...bound('rank')} />
    </Group>
  )
}

function Test({ plan, patch }: { plan: ChannelPlan; patch: CataloguePatch }) {
  const names = [plan.name, ...(plan.reserve === undefined ? [] : [plan.reserve.name])]
  const testing = useMutation({
    mutationFn: () =>
      Promise.all(names.map(async (name) => ({ name, tested: await testChannel(name, patch) }))),
  })
  return (
    <Stack>
      <Row>
        <Button
          isBusy={testing.isPending}
          disabled={plan.served.length === 0}
          onClick={() => testing.mutate()}
        >
          {t('entries.test.action')}
        </Button>
        <span className="soft">{t('entries.test.hint', { count: names.length })}</span>
      </Row>
      {testing.error !== null && <Notice tone="bad">{describeFailure(testing.error).title}</Notice>}
      {testing.data?.map(({ name, tested }) => (
        <TestResult key={name} name={name} tested={tested} />
      ))}
    </Stack>
  )
}

/** What one tiny request over a channel has brought back, and what it cost. */
function TestResult({ name, tested }: { name: string; tested: Tested }) {
  if (!tested.ok) return <NotReached name={name} reached={tested} />
  const { model, answered_model: answered, usage, cost_usd: cost, duration_ms: ms } = tested
  const words = [
    t('entries.test.answered', { model: answered ?? model ?? '', time: formatDuration(ms) }),
    usage && t('entries.test.tokens', { input: usage.input_tokens, output: usage.output_tokens }),
    cost === null
      ? t('entries.test.costUnknown')
      : t('entries.test.cost', { amount: formatUsdExact(cost) }),
    tested.cost_note,
  ]
  return (
    <Notice tone="good">
      <strong>{t('entries.test.works', { name })}</strong>{' '}
      {words.filter((word) => word !== null).join('; ')}.
    </Notice>
  )
}

type Reached = Pick<VendorModels, 'outcome' | 'status' | 'reason' | 'error'>

/** Why a vendor has not served, in words. */
function NotReached({ name, reached }: { name: string; reached: Reached }) {
  const { outcome, status, reason, error } = reached
  const said = [error?.type, error?.code, error?.param].filter((word) => typeof word === 'string')
  const remedy = remedyFor(outcome === 'config' ? 'credential_refused' : outcome)
  return (
    <Notice tone="bad">
      <strong>{t('entries.test.fails', { name })}</strong> {reason ?? failureMeaning(outcome).text}{' '}
      {status !== null &&
        t('entries.test.status', { status: String(status), said: said.join(', ') || 'none' })}
      {remedy !== undefined && <div>{remedy.text}</div>}
    </Notice>
  )
}

interface ModelTicksProps {
  readonly channel: string
  readonly draft: CataloguePatch
  readonly start: Start
  readonly known: KnownModels
  readonly errorOf: (model: string) => string | undefined
  readonly onChange: (served: readonly Served[]) => void
}

/** From there on a list needs a search. */
const manyModels = 12

/** The models that a vendor lists, to tick: those of the catalogue, and others with the prices proposed. */
function ModelTicks(props: ModelTicksProps) {
  const { channel, draft, start, known, errorOf, onChange } = props
  const fetching = useMutation({ mutationFn: () => listVendorModels(channel, draft) })
  const [wanted, setWanted] = useState('')
  const found = fetching.data
  const listed = found?.models ?? []
  const ofVendor = listed.filter((one) => (one.model_vendor ?? start.vendor) === start.vendor)
  const others = known.served.filter(({ id }) => !listed.some((model) => model.id === id))
  const shown = [
    ...sorted(ofVendor).filter(({ id }) => id.toLowerCase().includes(wanted.toLowerCase())),
    ...others.map(({ id }) => notListed(id, start)),
  ]
  const change = (id: string, next: Served | undefined): void => {
    const rest = known.served.filter((one) => one.id !== id)
    onChange(next === undefined ? rest : [...rest, next])
  }
  return (
    <Group title={t('entries.ticks.title')}>
      <Row>
        <Button isBusy={fetching.isPending} onClick={() => fetching.mutate()}>
          {t('entries.ticks.fetch')}
        </Button>
        {listed.length > manyModels && (
          <TextField
            label={t('entries.ticks.part')}
            type="search"
            value={wanted}
            onChange={setWanted}
          />
        )}
      </Row>
      {fetching.error !== null && (
        <Notice tone="bad">{describeFailure(fetching.error).title}</Notice>
      )}
      {found !== undefined && found.outcome !== 'ok' && (
        <NotReached name={channel} reached={found} />
      )}
      {shown.length > 0 && (
        <Scroll>
          <Stack isTight>
            {shown.map((model) => (
              <Tick
                key={model.id}
                model={model}
                served={known.served.find(({ id }) => id === model.id)}
                error={errorOf(model.model ?? model.id)}
                onTick={(isTicked) =>
                  change(model.id, isTicked ? servedOf(model, start, known) : undefined)
                }
                onChange={(next) => change(model.id, next)}
              />
            ))}
          </Stack>
        </Scroll>
      )}
      {ofVendor.length < listed.length && (
        <p className="soft">
          {t('entries.ticks.others', { count: listed.length - ofVendor.length })}
        </p>
      )}
      {found?.outcome === 'ok' && !found.is_complete && (
        <p className="soft">{t('entries.ticks.incomplete')}</p>
      )}
      <NotListed
        faultOf={(id) => modelFault(id, start, known)}
        onAdd={(id) => change(id, servedOf(notListed(id, start), start, known))}
      />
    </Group>
  )
}

/** Those that are known first. */
function sorted(models: readonly VendorModel[]): readonly VendorModel[] {
  const order = ({ model, proposal }: VendorModel): number =>
    model !== null ? 0 : proposal !== null ? 1 : 2
  return models.toSorted(
    (one, other) =>
      order(one) - order(other) || one.id.localeCompare(other.id, 'en', { numeric: true }),
  )
}

interface TickProps {
  readonly model: VendorModel
  readonly served: Served | undefined
  readonly error: string | undefined
  readonly onTick: (isTicked: boolean) => void
  readonly onChange: (served: Served) => void
}

function Tick({ model, served, error, onTick, onChange }: TickProps) {
  return (
    <Stack isTight>
      <CheckField
        label={model.id}
        hint={hintOf(model)}
        value={served !== undefined}
        onChange={onTick}
      />
      {served?.entry !== undefined && (
        <Pair>
          {(['input', 'output'] as const).map((name) => (
            <TextField
              key={name}
              label={t(`entries.ticks.${name}`)}
              unit="$"
              inputMode="decimal"
              value={served[name]}
              onChange={(text) => onChange({ ...served, [name]: text })}
            />
          ))}
        </Pair>
      )}
      {error !== undefined && <p className="field-hint bad">{error}</p>}
    </Stack>
  )
}

function hintOf({ id, model, proposal, prices_read_on: day }: VendorModel): string | undefined {
  if (model !== null && model !== id) return t('entries.ticks.knownAs', { model })
  if (model !== null) return t('entries.ticks.known')
  if (proposal === null) return undefined
  return day === null
    ? t('entries.ticks.proposed')
    : t('entries.ticks.proposedOf', { day: formatDay(day) })
}

interface NotListedProps {
  readonly faultOf: (id: string) => string | undefined
  readonly onAdd: (id: string) => void
}

function NotListed({ faultOf, onAdd }: NotListedProps) {
  const [typed, setTyped] = useState('')
  const id = typed.trim()
  const fault = faultOf(id)
  return (
    <Pair>
      <TextField
        label={t('entries.ticks.notListed')}
        hint={t('entries.ticks.notListedHint')}
        spellCheck={false}
        value={typed}
        error={fault}
        onChange={setTyped}
      />
      <div className="beside-field">
        <Button
          disabled={id === '' || fault !== undefined}
          onClick={() => {
            onAdd(id)
            setTyped('')
          }}
        >
          {t('entries.ticks.add')}
        </Button>
      </div>
    </Pair>
  )
}
