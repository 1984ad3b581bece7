/**
 * Makes a channel from nothing: kind of vendor, address, credential, the models that the vendor lists, a test
 * by a real tiny request, the changes, and Save. A reserve can come with it.
 */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/card.tsx'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { describeFailure } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { ChangesStep } from './changes-step.tsx'
import {
  beginPlan,
  freeName,
  nameFault,
  patchOf,
  startsOf,
  type ChannelPlan,
} from './channel-plan.ts'
import type { Field } from './entry.ts'
import { EntryFields, SecretField } from './entry-fields.tsx'
import { ModelTicks } from './model-ticks.tsx'
import type { FormFacts } from './queries.ts'
import { sendPatch, testChannel, type Planned, type Tested } from './requests.ts'
import { TestResult } from './test-result.tsx'

/** These have inputs apart from the other fields. */
const askedApart: ReadonlySet<string> = new Set(['vendor', 'models'])

export function NewChannel({ declared, lists, onClose }: FormFacts) {
  const fields = declared.channels
  const starts = startsOf(declared, lists)
  const taken = new Set(lists.channels.map(({ name }) => name))
  const [plan, setPlan] = useState<ChannelPlan>()
  const [planned, setPlanned] = useState<Planned>()
  const { revision } = lists
  const faults = plan === undefined ? [] : [...faultsOf(plan, taken).values()]
  if (plan !== undefined && planned !== undefined)
    return (
      <ChangesStep
        planned={planned}
        onSave={() => sendPatch(patchOf(fields, plan), { revision, isDryRun: false })}
        onBack={() => setPlanned(undefined)}
        onSaved={() => {
          announce(`The channel ${plan.name} is saved.`)
          onClose()
        }}
      />
    )
  return (
    <Form
      action="Show changes"
      isStep
      isDisabled={plan === undefined || plan.served.length === 0 || faults.length > 0}
      onSubmit={async () => plan && sendPatch(patchOf(fields, plan), { revision, isDryRun: true })}
      onDone={setPlanned}
      onCancel={onClose}
    >
      {(errorOf) => (
        <>
          <SelectField
            label="Kind of vendor"
            value={plan?.start.id ?? ''}
            options={[['', 'Choose…'], ...starts.map(({ id, title }) => [id, title] as const)]}
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
              fields={fields}
              lists={lists}
              taken={taken}
              errorOf={errorOf}
              onChange={setPlan}
            />
          )}
        </>
      )}
    </Form>
  )
}

/** Wrong names of the channel and its reserve, by name. */
function faultsOf(
  { name, reserve }: ChannelPlan,
  taken: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const found = [
    [name, nameFault(name, taken)] as const,
    ...(reserve === undefined
      ? []
      : [[reserve.name, nameFault(reserve.name, new Set([...taken, name]))] as const]),
  ]
  return new Map(found.flatMap(([which, fault]) => (fault === undefined ? [] : [[which, fault]])))
}

interface PlanInputsProps extends PartProps {
  readonly fields: readonly Field[]
  readonly lists: FormFacts['lists']
  readonly taken: ReadonlySet<string>
}

function PlanInputs({ plan, fields, lists, taken, errorOf, onChange }: PlanInputsProps) {
  const faults = faultsOf(plan, taken)
  const errorIn = (channel: string) => (key: string) =>
    key === 'name' ? faults.get(channel) : errorOf(`channels.${channel}.${key}`)
  return (
    <>
      <Main plan={plan} fields={fields} errorOf={errorIn(plan.name)} onChange={onChange} />
      <ModelTicks
        channel={plan.name}
        draft={patchOf(fields, { ...plan, served: [], reserve: undefined })}
        start={plan.start}
        known={{
          vendors: new Map(lists.models.map(({ id, vendor }) => [id, vendor])),
          served: plan.served,
        }}
        errorOf={(model) => errorOf(`models.${model}`)}
        onChange={(served) => onChange({ ...plan, served })}
      />
      <Reserve
        plan={plan}
        taken={taken}
        errorOf={errorIn(plan.reserve?.name ?? '')}
        onChange={onChange}
      />
      <Test plan={plan} patch={patchOf(fields, plan)} />
    </>
  )
}

interface PartProps {
  readonly plan: ChannelPlan
  readonly errorOf: (key: string) => string | undefined
  readonly onChange: (plan: ChannelPlan) => void
}

function Main({ plan, fields, errorOf, onChange }: PartProps & { fields: readonly Field[] }) {
  return (
    <>
      <TextField
        label="Name"
        hint="How records, reports and alerts call it"
        spellCheck={false}
        value={plan.name}
        error={errorOf('name')}
        onChange={(name) => onChange({ ...plan, name: name.trim() })}
      />
      <EntryFields
        section="channels"
        fields={fields.filter(({ key }) => !askedApart.has(key))}
        entry={{}}
        draft={plan.draft}
        onChange={(draft) => onChange({ ...plan, draft })}
        errorOf={errorOf}
        names={{ vendors: [], models: [] }}
      />
    </>
  )
}

function Reserve({ plan, taken, errorOf, onChange }: PartProps & { taken: ReadonlySet<string> }) {
  const { start, draft, reserve } = plan
  const add = (): ChannelPlan['reserve'] => ({
    name: freeName(`${start.vendor}-reserve`, start.vendor, new Set([...taken, plan.name])),
    draft: {
      url: draft['url'] ?? '',
      credential: '',
      rank: String((Number(draft['rank']) || 0) + 1),
    },
  })
  const set = (key: string, text: string): void => {
    if (reserve === undefined) return
    onChange({ ...plan, reserve: { ...reserve, draft: { ...reserve.draft, [key]: text } } })
  }
  return (
    <>
      <CheckField
        label="Add a reserve"
        hint="A second channel of the same models, which serves where this one cannot"
        value={reserve !== undefined}
        onChange={(isWanted) => onChange({ ...plan, reserve: isWanted ? add() : undefined })}
      />
      {reserve !== undefined && (
        <fieldset className="entry-ticks">
          <legend>Reserve</legend>
          <div className="form">
            <TextField
              label="Name of the reserve"
              spellCheck={false}
              value={reserve.name}
              error={errorOf('name')}
              onChange={(name) => onChange({ ...plan, reserve: { ...reserve, name: name.trim() } })}
            />
            <TextField
              label="Address of the reserve"
              spellCheck={false}
              value={reserve.draft['url'] ?? ''}
              error={errorOf('url')}
              onChange={(text) => set('url', text)}
            />
            <SecretField
              label="Credential of the reserve"
              value={reserve.draft['credential'] ?? ''}
              error={errorOf('credential')}
              onChange={(text) => set('credential', text)}
            />
            <TextField
              label="Rank of the reserve"
              inputMode="numeric"
              value={reserve.draft['rank'] ?? ''}
              error={errorOf('rank')}
              onChange={(text) => set('rank', text)}
            />
          </div>
        </fieldset>
      )}
    </>
  )
}

interface Outcome {
  readonly name: string
  readonly tested: Tested
}

function Test({ plan, patch }: { plan: ChannelPlan; patch: ReturnType<typeof patchOf> }) {
  const names = [plan.name, ...(plan.reserve === undefined ? [] : [plan.reserve.name])]
  const testing = useMutation({
    mutationFn: () =>
      Promise.all(
        names.map(async (name): Promise<Outcome> => ({
          name,
          tested: await testChannel(name, patch),
        })),
      ),
  })
  return (
    <div className="stack">
      <div className="row">
        <Button
          isBusy={testing.isPending}
          disabled={plan.served.length === 0}
          onClick={() => testing.mutate()}
        >
          Test
        </Button>
        <span className="soft">
          One tiny real request{names.length > 1 && ' for each'}. The vendor bills it to you.
        </span>
      </div>
      {testing.error !== null && <Notice tone="bad">{describeFailure(testing.error).title}</Notice>}
      {testing.data?.map(({ name, tested }) => (
        <TestResult key={name} name={name} tested={tested} />
      ))}
    </div>
  )
}
