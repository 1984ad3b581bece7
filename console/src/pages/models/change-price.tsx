/**
 * Changes the price of one model, now or from a day on. It sends an import of one model, which leaves
 * tiers, speeds, regions and fees as they are, and shows the differences before it applies them.
 */
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { buttonClass } from '../../ui/button.tsx'
import { Notice } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { formatDay } from '../../ui/format.ts'
import { Loading } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { applyImport, planImport, refreshCatalogue, type PlannedImport } from './changes.ts'
import { FieldChanges } from './field-changes.tsx'
import { decimalOf, mainClasses } from './price.ts'
import { hasUnlistedParts, listText } from './price-as-list.ts'
import { pricesQuery, type PriceVersion } from './queries.ts'

interface ChangePriceProps {
  readonly model: string
  readonly onClose: () => void
}

export function ChangePrice({ model, onClose }: ChangePriceProps) {
  return (
    <Dialog title={`Change the price of ${model}`} isOpen onClose={onClose}>
      <Suspense fallback={<Loading rows={5} />}>
        <Content model={model} onClose={onClose} />
      </Suspense>
    </Dialog>
  )
}

type Price = PriceVersion['price']

function Content({ model, onClose }: ChangePriceProps) {
  const { data: versions } = useSuspenseQuery(pricesQuery)
  const price =
    versions.find((version) => version.model === model && version.state === 'in_force')?.price ?? {}
  if (hasUnlistedParts(price))
    return (
      <div className="stack">
        <p>
          This model has prices for long prompts or for tools of the vendor. Change them in the
          catalogue file, where you see them all.
        </p>
        <footer className="dialog-foot">
          <Link
            to="/models"
            search={{ tab: 'catalogue', section: 'models', entry: model }}
            className={buttonClass('primary')}
            onClick={onClose}
          >
            Open the catalogue file
          </Link>
        </footer>
      </div>
    )
  return <PriceForm model={model} price={price} onClose={onClose} />
}

function PriceForm({ model, price, onClose }: ChangePriceProps & { readonly price: Price }) {
  const client = useQueryClient()
  const [amounts, setAmounts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(mainClasses.map(({ name }) => [name, decimalOf(price, name) ?? ''])),
  )
  const [from, setFrom] = useState('')
  const [planned, setPlanned] = useState<PlannedImport>()
  if (planned !== undefined)
    return (
      <Preview
        model={model}
        planned={planned}
        onBack={() => setPlanned(undefined)}
        onClose={onClose}
      />
    )
  const shown = mainClasses.filter(({ name }) => name !== 'output' || amounts['output'] !== '')
  const mistakes = Object.fromEntries(
    shown.map(({ name }) => [name, mistakeIn(amounts[name] ?? '', name)]),
  )
  return (
    <Form
      action="Show changes"
      isStep
      isDisabled={Object.values(mistakes).some((mistake) => mistake !== undefined)}
      onSubmit={() =>
        planImport(client, { text: listText(model, price, amounts), from, models: [model] })
      }
      onDone={setPlanned}
      onCancel={onClose}
    >
      {(errorOf) => (
        <div className="form-pair">
          {shown.map(({ name, title, fallback }) => (
            <TextField
              key={name}
              label={title}
              unit="$"
              inputMode="decimal"
              value={amounts[name] ?? ''}
              placeholder={fallback}
              error={mistakes[name]}
              onChange={(value) => setAmounts({ ...amounts, [name]: value.trim() })}
            />
          ))}
          <TextField
            label="In force from"
            type="date"
            hint="00:00 UTC. Empty: now."
            value={from}
            onChange={setFrom}
            error={errorOf('valid_from')}
          />
        </div>
      )}
    </Form>
  )
}

const decimal = /^\d{1,7}(\.\d{1,6})?$/

function mistakeIn(text: string, name: string): string | undefined {
  if (text === '') return name === 'input' ? 'Give a price.' : undefined
  return decimal.test(text) ? undefined : 'A number with at most six decimals, such as 3.75.'
}

function Preview({
  model,
  planned,
  onBack,
  onClose,
}: ChangePriceProps & { readonly planned: PlannedImport; readonly onBack: () => void }) {
  const client = useQueryClient()
  const { from } = planned.request
  const [found] = planned.result.models
  if (found === undefined || found.changes.length === 0)
    return (
      <Form action="Change again" onSubmit={() => Promise.resolve()} onDone={onBack}>
        {() => <Notice>Nothing changes: the model has these prices already.</Notice>}
      </Form>
    )
  return (
    <Form
      action="Apply"
      onSubmit={() => applyImport(planned)}
      onDone={() => {
        void refreshCatalogue(client)
        announce(`The price of ${model} is changed.`)
        onClose()
      }}
      onCancel={onBack}
    >
      {() => (
        <>
          <p>
            {from === ''
              ? 'In force at once, for requests that begin from then on:'
              : `In force from ${formatDay(from)}, 00:00 UTC:`}
          </p>
          <FieldChanges changes={found.changes} />
          {found.notes.map((note) => (
            <Notice key={note} tone="warn">
              {note}
            </Notice>
          ))}
          <p className="soft">
            If you keep the catalogue as a file elsewhere, change it there too: the next apply of
            the old file would bring the old price back.
          </p>
        </>
      )}
    </Form>
  )
}
