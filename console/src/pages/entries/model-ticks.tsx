/** The models that a vendor lists, to tick: those of the catalogue, and others with the prices proposed. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/card.tsx'
import { CheckField, TextField } from '../../ui/field.tsx'
import { formatDay } from '../../ui/format.ts'
import { Group, Pair, Row, Scroll, Stack } from '../../ui/layout.tsx'
import { describeFailure } from '../../ui/states.tsx'
import {
  modelFault,
  notListed,
  servedOf,
  type KnownModels,
  type Served,
  type Start,
} from './plans.ts'
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

/** From there on a list needs a search. */
const manyModels = 12

export function ModelTicks(props: ModelTicksProps) {
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
      {error !== undefined && <p className="bad small break">{error}</p>}
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
