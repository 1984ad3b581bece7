/**
 * Changes the price of one model, now or from a day on, and shows the differences before it applies them.
 * Versions of other days stay as they are; the form of the model has them all.
 */
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { t } from '../../messages/t.ts'
import { Problem } from '../../problem.ts'
import { TextField } from '../../ui/field.tsx'
import { formatDay } from '../../ui/format.ts'
import { useEdit } from '../../ui/outdated.tsx'
import { Amounts, amountFault } from './amount-inputs.tsx'
import {
  amountsOf,
  changesBetween,
  mainClasses,
  recordOf,
  valueOfAmounts,
  type Amount,
} from './amounts.ts'
import { FieldChanges } from './changes.tsx'
import { PatchForm } from './patch-form.tsx'
import { entryQuery } from './requests.ts'

const dayLength = 'yyyy-mm-dd'.length

export function PriceForm({ model }: { model: string }) {
  const client = useQueryClient()
  const query = entryQuery('models', model)
  const { data: shown } = useSuspenseQuery(query)
  const edit = useEdit({
    read: shown,
    draftOf: ({ entry }) => ({ amounts: inForceOf(entry), from: '' }),
    readAgain: () => client.fetchQuery(query),
  })
  const { draft, setDraft, before, read } = edit
  const { amounts, from } = draft
  const stored = amountsOf(read.entry['price'] ?? {}, 'prices')
  const changed =
    from === ''
      ? [...amounts, ...stored.filter((one) => one.from !== '')]
      : [...stored.filter((one) => one.from !== from), ...amounts.map((one) => ({ ...one, from }))]
  const hasOutput = before.amounts.some(({ path }) => path === 'output')
  const isGiven = amounts.some(({ path, text }) => path === 'input' && text !== '')
  return (
    <PatchForm
      patch={{ models: { [model]: { price: valueOfAmounts(changed, 'prices') } } }}
      revision={read.revision}
      readAgain={edit.merge}
      isReady={isGiven && amounts.every(({ text }) => amountFault(text) === undefined)}
      check={() => refuseThePast(from)}
      action={t('models.price.apply')}
      saved={t('models.price.saved', { model })}
      review={() => (
        <>
          <p>
            {from === ''
              ? t('models.price.atOnce')
              : t('models.price.fromDay', { day: formatDay(from) })}
          </p>
          <FieldChanges changes={changesBetween(priceOf(before.amounts), priceOf(amounts))} />
          <p className="soft">{t('models.price.fileElsewhere')}</p>
        </>
      )}
    >
      {(errorOf) => (
        <>
          <Amounts
            paths={mainClasses
              .map(({ name }) => name)
              .filter((name) => name !== 'output' || hasOutput)}
            amounts={amounts}
            of={{ model: '', from: '' }}
            onChange={(next) => setDraft({ ...draft, amounts: next })}
            errorOf={(path) => errorOf(`models.${model}.price.${path.replaceAll('/', '.')}`)}
          />
          <TextField
            label={t('entries.price.from')}
            type="date"
            hint={t('models.price.fromHint')}
            value={from}
            error={errorOf('valid_from')}
            onChange={(day) => setDraft({ ...draft, from: day })}
          />
        </>
      )}
    </PatchForm>
  )
}

/** A file names the price in force without a day. */
function inForceOf(entry: Readonly<Record<string, unknown>>): readonly Amount[] {
  return amountsOf(entry['price'] ?? {}, 'prices').filter(({ from }) => from === '')
}

function priceOf(amounts: readonly Amount[]): Readonly<Record<string, unknown>> {
  const [price] = [valueOfAmounts(amounts, 'prices')].flat()
  return recordOf(price)
}

/** The gateway takes a past day for one that is in force at once, which is not what was meant. */
function refuseThePast(from: string): void {
  if (from === '' || from > new Date().toISOString().slice(0, dayLength)) return
  const message = t('models.price.past')
  throw new Problem(400, { detail: message, errors: [{ field: 'valid_from', message }] })
}
