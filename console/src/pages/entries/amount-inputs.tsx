/**
 * The inputs of prices with their versions, of what a channel costs by model, and of pinned baselines. They
 * edit the lines that `amounts.ts` describes.
 */
import { Plus, X } from 'lucide-react'
import { t } from '../../messages/t.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Group, Pair, Row } from '../../ui/layout.tsx'
import { SuggestField } from '../../ui/suggest-field.tsx'
import { amountsIn, fieldTitle, linesOfAmounts, mainClasses, type Amount } from './amounts.ts'

interface AmountsFieldProps {
  readonly label: string
  readonly hint: string | undefined
  readonly error: string | undefined
  readonly kind: 'prices' | 'cost' | 'baselines'
  readonly value: string
  /** That can have cost prices or baselines. */
  readonly models: readonly string[]
  readonly pricePaths: readonly string[]
  readonly onChange: (text: string) => void
}

export function AmountsField(props: AmountsFieldProps) {
  const { label, hint, error, kind, value, models, pricePaths, onChange } = props
  const amounts = amountsIn(value)
  const write = (next: readonly Amount[]): void => onChange(linesOfAmounts(next))
  /** Replaces the amounts of one model. */
  const writeOf = (model: string, own: readonly Amount[]): void =>
    write([...amounts.filter((one) => one.model !== model), ...own])
  if (kind === 'prices')
    return (
      <Group title={label} hint={hint} error={error}>
        <Versions
          amounts={amounts}
          model=""
          pricePaths={pricePaths}
          onChange={(next) => writeOf('', next)}
        />
      </Group>
    )
  return (
    <>
      {kind === 'cost' && (
        <TextField
          label={label}
          hint={hint}
          error={error}
          spellCheck={false}
          value={amounts.find(({ path }) => path === 'factor')?.text ?? ''}
          onChange={(text) =>
            writeOf('', text === '' ? [] : [{ model: '', from: '', path: 'factor', text }])
          }
        />
      )}
      <ByModel
        {...(kind === 'cost'
          ? { title: t('entries.cost.byModel'), hint: t('entries.cost.byModelHint') }
          : { title: label, hint, error })}
        kind={kind}
        amounts={amounts}
        models={models}
        pricePaths={pricePaths}
        onChange={writeOf}
      />
    </>
  )
}

interface ByModelProps extends Pick<AmountsFieldProps, 'models' | 'pricePaths'> {
  readonly title: string
  readonly hint: string | undefined
  readonly error?: string | undefined
  readonly kind: 'cost' | 'baselines'
  readonly amounts: readonly Amount[]
  readonly onChange: (model: string, amounts: readonly Amount[]) => void
}

/** A group for each model that has own amounts, and a list to add one. */
function ByModel({ title, hint, error, kind, amounts, models, ...rest }: ByModelProps) {
  const { pricePaths, onChange } = rest
  const named = [...new Set(amounts.map(({ model }) => model))].filter((model) => model !== '')
  const addable = models.filter((model) => !named.includes(model))
  if (named.length + addable.length === 0) return null
  return (
    <Group title={title} hint={hint} error={error}>
      {named.map((model) => {
        const own = amounts.filter((one) => one.model === model)
        const bound = { amounts: own, onChange: (next: readonly Amount[]) => onChange(model, next) }
        return (
          <Group key={model} title={model}>
            {kind === 'cost' ? (
              <Versions {...bound} model={model} pricePaths={pricePaths} />
            ) : (
              <Amounts {...bound} of={{ model, from: '' }} paths={baselinePaths} />
            )}
            <Row>
              <Button onClick={() => onChange(model, [])}>
                <X aria-hidden /> {t('entries.remove', { name: model })}
              </Button>
            </Row>
          </Group>
        )
      })}
      {addable.length > 0 && (
        <SelectField
          label={t(`entries.${kind}.add`)}
          value=""
          options={[['', t('entries.choose')], ...addable.map((one) => [one, one] as const)]}
          onChange={(model) => {
            const path = kind === 'cost' ? 'input' : 'p50'
            if (model !== '') onChange(model, [{ model, from: '', path, text: '' }])
          }}
        />
      )}
    </Group>
  )
}

const baselinePaths = ['p50', 'p95'] as const
const mainPaths = mainClasses.map(({ name }) => name)

interface VersionsProps {
  readonly amounts: readonly Amount[]
  readonly model: string
  readonly pricePaths: readonly string[]
  readonly onChange: (amounts: readonly Amount[]) => void
}

/** The price in force, and those of later days. */
function Versions({ amounts, model, pricePaths, onChange }: VersionsProps) {
  const moments = [...new Set(amounts.map(({ from }) => from))]
  const shown = moments.length === 0 ? [''] : moments
  const ofMoment = (from: string) => amounts.filter((one) => one.from === from)
  const replace = (from: string, next: readonly Amount[]): void =>
    onChange(shown.flatMap((one) => (one === from ? next : ofMoment(one))))
  return (
    <>
      {shown.map((from) => (
        <div key={shown.indexOf(from)} className="stack tight">
          {from !== '' && (
            <Row>
              <TextField
                label={t('entries.price.from')}
                type={from.length > dayLength ? 'text' : 'date'}
                hint={t('entries.price.fromHint')}
                value={from}
                onChange={(day) => {
                  if (day === '' || shown.includes(day)) return
                  replace(
                    from,
                    ofMoment(from).map((one) => ({ ...one, from: day })),
                  )
                }}
              />
              <IconButton
                label={t('entries.price.removeVersion', { day: from })}
                onClick={() => replace(from, [])}
              >
                <X aria-hidden />
              </IconButton>
            </Row>
          )}
          <Amounts
            paths={mainPaths}
            amounts={ofMoment(from)}
            of={{ model, from }}
            onChange={(next) => replace(from, next)}
          />
          <SuggestField
            // It is empty again after each addition.
            key={ofMoment(from).length}
            label={t('entries.price.another')}
            value=""
            suggestions={pricePaths.map((path) => ({ value: path, text: fieldTitle(path) }))}
            onApply={(path) => {
              const own = ofMoment(from)
              if (mayHave(path, pricePaths) && !own.some((one) => one.path === path))
                replace(from, [...own, { model, from, path, text: '' }])
            }}
          />
        </div>
      ))}
      <Row>
        <Button
          onClick={() => {
            const from = freeDay(shown)
            const last = ofMoment(shown.at(-1) ?? '')
            onChange([...amounts, ...last.map((one) => ({ ...one, from }))])
          }}
          disabled={amounts.length === 0}
        >
          <Plus aria-hidden /> {t('entries.price.addVersion')}
        </Button>
      </Row>
    </>
  )
}

function mayHave(path: string, pricePaths: readonly string[]): boolean {
  return pricePaths.includes(path) || /^(tiers|speeds|geos)\/[\w.-]+\/\w+$/.test(path)
}

const dayLength = 'yyyy-mm-dd'.length
const dayMs = 86_400_000

/** The next day that has no version. */
function freeDay(taken: readonly string[]): string {
  for (let atMs = Date.now() + dayMs; ; atMs += dayMs) {
    const day = new Date(atMs).toISOString().slice(0, dayLength)
    if (!taken.includes(day)) return day
  }
}

interface AmountsProps {
  /** Those that have an input in any case. */
  readonly paths: readonly string[]
  readonly amounts: readonly Amount[]
  readonly of: Pick<Amount, 'model' | 'from'>
  readonly onChange: (amounts: readonly Amount[]) => void
  readonly errorOf?: (path: string) => string | undefined
}

export function Amounts({ paths, amounts, of, onChange, errorOf }: AmountsProps) {
  const all = [...new Set([...paths, ...amounts.map(({ path }) => path)])]
  const set = (path: string, text: string): void => {
    const others = amounts.filter((one) => one.path !== path)
    onChange(text === '' ? others : ordered([...others, { ...of, path, text }], all))
  }
  return (
    <Pair>
      {all.map((path) => {
        const text = amounts.find((one) => one.path === path)?.text ?? ''
        return (
          <TextField
            key={path}
            label={fieldTitle(path)}
            {...(isInDollars(path) && { unit: '$', inputMode: 'decimal' })}
            placeholder={mainClasses.find(({ name }) => name === path)?.fallback ?? ''}
            value={text}
            error={(isInDollars(path) ? amountFault(text) : undefined) ?? errorOf?.(path)}
            onChange={(typed) => set(path, typed.trim())}
          />
        )
      })}
    </Pair>
  )
}

/** Returns what is wrong with a price, as far as one can say without the gateway. */
export function amountFault(text: string): string | undefined {
  return text === '' || /^\d{1,7}(\.\d{1,12})?$/.test(text) ? undefined : t('entries.price.fault')
}

function isInDollars(path: string): boolean {
  return !/multiplier$|above$|^p\d\d$/.test(path)
}

/** The order stays while a person types. */
function ordered(amounts: readonly Amount[], paths: readonly string[]): readonly Amount[] {
  return amounts.toSorted((one, other) => paths.indexOf(one.path) - paths.indexOf(other.path))
}
