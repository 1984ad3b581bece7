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
import { Group, Row, Stack } from '../../ui/layout.tsx'
import { describeFailure } from '../../ui/states.tsx'
import { pricePaths, type Draft } from './entry.ts'
import { EntryFields, SecretField } from './inputs.tsx'
import { ModelTicks } from './model-ticks.tsx'
import { PatchForm } from './patch-form.tsx'
import {
  beginPlan,
  channelFaults,
  channelPatch,
  reserveOf,
  startsOf,
  type ChannelPlan,
} from './plans.ts'
import { catalogueListQuery, testChannel, type CataloguePatch, type FormFacts } from './requests.ts'
import { TestResult } from './test-result.tsx'

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
