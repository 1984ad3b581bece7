/** The form that is asked for, with what the forms of entries read first. */
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { t } from '../../messages/t.ts'
import { Problem } from '../../problem.ts'
import { Button } from '../../ui/button.tsx'
import type { FormField } from '../../ui/draft.ts'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { textField } from '../../ui/form-fields.tsx'
import { NewForm } from '../../ui/form.tsx'
import { formatDay } from '../../ui/format.ts'
import { Group, Pair } from '../../ui/layout.tsx'
import { OthersChanges, useEdit } from '../../ui/outdated.tsx'
import { announce } from '../../ui/toast.tsx'
import { DialogContext } from '../../ui/typed.ts'
import { useChannelRefresh } from '../channels/queries.ts'
import { fieldsQuery } from '../models/queries.ts'
import { draftOf, patchBetween, pricePaths, titleOf, type Section } from './entry.ts'
import type { AskedForm } from './entry-dialog.tsx'
import { EntryFields, SecretField } from './inputs.tsx'
import { NewChannel } from './new-channel.tsx'
import { PatchForm } from './patch-form.tsx'
import { PriceForm } from './price-form.tsx'
import {
  findPreset,
  modelPatch,
  nameFault,
  renamed,
  type Channel,
  type ModelPlan,
} from './plans.ts'
import { catalogueListQuery, entryQuery, replaceCredential, type FormFacts } from './requests.ts'

export function EntryForm({ asked }: { asked: AskedForm }) {
  switch (asked.kind) {
    case 'credential':
      return <Credential channel={asked.channel} />
    case 'price':
      return <PriceForm model={asked.model} />
    default:
      return <CatalogueForm asked={asked} />
  }
}

function CatalogueForm({ asked }: { asked: Exclude<AskedForm, { kind: 'credential' | 'price' }> }) {
  const { data: declared } = useSuspenseQuery(fieldsQuery)
  const { data: lists } = useSuspenseQuery(catalogueListQuery)
  const facts = { declared, lists }
  switch (asked.kind) {
    case 'new channel':
      return <NewChannel {...facts} />
    case 'new model':
      return <NewModel {...facts} />
    case 'edit':
      return <EditEntry {...facts} section={asked.section} name={asked.name} />
  }
}

interface EditEntryProps extends FormFacts {
  readonly section: Section
  readonly name: string
}

/** Changes a vendor, a model or a channel by all its fields. */
function EditEntry({ section, name, declared, lists }: EditEntryProps) {
  const client = useQueryClient()
  const query = entryQuery(section, name)
  const { data: shown } = useSuspenseQuery(query)
  const fields = declared[section]
  const edit = useEdit({
    read: shown,
    draftOf: ({ entry }) => draftOf(fields, entry),
    readAgain: () => client.fetchQuery(query),
  })
  const { draft, setDraft, before } = edit
  const { entry, revision } = edit.read
  const change = patchBetween(fields, before, draft)
  const { vendor = '' } = draft
  return (
    <PatchForm
      patch={{ [section]: { [name]: change } }}
      revision={revision}
      readAgain={edit.merge}
      isMerged
      isReady={Object.keys(change).length > 0}
      saved={t('entries.edit.saved', { name })}
    >
      {(errorOf) => (
        <>
          <OthersChanges
            edit={edit}
            labels={Object.fromEntries(fields.map((field) => [field.key, titleOf(field)]))}
          />
          <EntryFields
            section={section}
            fields={fields}
            entry={entry}
            draft={draft}
            onChange={setDraft}
            errorOf={(key) => errorOf(`${section}.${name}.${key}`)}
            known={{
              vendors: lists.vendors.map((one) => one.name),
              models: lists.models.filter((one) => one.vendor === vendor).map(({ id }) => id),
              pricePaths: pricePaths(declared),
            }}
          />
        </>
      )}
    </PatchForm>
  )
}

/** Makes a model that channels of the catalogue serve: id, prices, limits, and which channels have it. */
function NewModel({ declared, lists }: FormFacts) {
  const client = useQueryClient()
  const { presets } = declared
  const fields = declared.models.filter(({ key }) => key !== 'vendor')
  const [plan, setPlan] = useState<ModelPlan>({
    id: '',
    vendor: lists.vendors[0]?.name ?? '',
    draft: {},
    chosen: new Set(),
  })
  const { id, vendor } = plan
  const channels = lists.channels.filter((channel) => channel.vendor === vendor)
  const fault = id === '' ? undefined : nameFault(id, new Set(lists.models.map((one) => one.id)))
  const preset = findPreset(presets, id)
  return (
    <PatchForm
      patch={modelPatch(fields, plan, channels)}
      revision={lists.revision}
      readAgain={() => client.fetchQuery(catalogueListQuery)}
      isReady={id !== '' && vendor !== '' && fault === undefined}
      saved={t('entries.model.saved', { id })}
    >
      {(errorOf) => (
        <>
          <Pair>
            <TextField
              label={t('entries.model.id')}
              hint={t('entries.model.idHint')}
              autoFocus
              spellCheck={false}
              value={id}
              error={fault}
              onChange={(text) => setPlan(renamed(plan, text.trim(), { presets, fields }))}
            />
            <SelectField
              label={t('entries.model.vendor')}
              value={vendor}
              options={lists.vendors.map(({ name }) => [name, name] as const)}
              error={errorOf(`models.${id}.vendor`)}
              onChange={(chosen) => setPlan({ ...plan, vendor: chosen })}
            />
          </Pair>
          <ServedBy
            channels={channels}
            chosen={plan.chosen}
            onChange={(chosen) => setPlan({ ...plan, chosen })}
          />
          {preset !== undefined && (
            <p className="soft">
              {t('entries.model.pricesOf', { day: formatDay(preset.prices_read_on) })}
            </p>
          )}
          <EntryFields
            section="models"
            // Its prices come first.
            fields={fields.toSorted((one, other) => rankOf(one.kind) - rankOf(other.kind))}
            entry={{}}
            draft={plan.draft}
            onChange={(draft) => setPlan({ ...plan, draft })}
            errorOf={(key) => errorOf(`models.${id}.${key}`)}
            known={{ vendors: [], models: [], pricePaths: pricePaths(declared) }}
          />
        </>
      )}
    </PatchForm>
  )
}

function rankOf(kind: string): number {
  return kind === 'prices' ? 0 : 1
}

interface ServedByProps {
  readonly channels: readonly Channel[]
  readonly chosen: ReadonlySet<string>
  readonly onChange: (chosen: ReadonlySet<string>) => void
}

function ServedBy({ channels, chosen, onChange }: ServedByProps) {
  return (
    <Group title={t('entries.model.servedBy')}>
      {channels.length === 0 && <p className="soft">{t('entries.model.noChannel')}</p>}
      {channels
        .toSorted((one, other) => one.rank - other.rank)
        .map(({ name, rank }) => (
          <CheckField
            key={name}
            label={name}
            hint={t(rank === 0 ? 'entries.model.mainRoute' : 'entries.model.reserve', {
              rank: String(rank),
            })}
            value={chosen.has(name)}
            onChange={(isChosen) => {
              const next = new Set(chosen)
              if (isChosen) next.add(name)
              else next.delete(name)
              onChange(next)
            }}
          />
        ))}
    </Group>
  )
}

const credential: FormField<string> = {
  ...textField(t('entries.credential.field'), {
    hint: t('entries.credential.hint'),
    isRequired: true,
  }),
  input: (bound) => <SecretField {...bound} />,
}

/**
 * Replaces the credential of a channel: the new one must serve a tiny request first. The field and its text
 * live in this form alone; no address, history or storage has them.
 */
function Credential({ channel }: { channel: string }) {
  const refresh = useChannelRefresh()
  const dialog = useContext(DialogContext)
  const [refused, setRefused] = useState<string>()
  const replace = (credential: string, force: boolean) =>
    replaceCredential(channel, { credential: credential.trim(), force })
  const done = (): void => {
    announce(t('entries.credential.saved', { channel }))
    void refresh()
    dialog?.forget()
    dialog?.close()
  }
  const forcing = useMutation({
    mutationFn: (credential: string) => replace(credential, true),
    onSuccess: done,
  })
  return (
    <NewForm
      fields={{ credential }}
      action={t('entries.credential.action')}
      send={({ draft }) =>
        replace(draft.credential, false).catch((error: unknown) => {
          if (error instanceof Problem && error.code === 'operations.credential_refused')
            setRefused(draft.credential)
          throw error
        })
      }
      onDone={done}
    >
      {({ draft, field }) => (
        <>
          <p>{t('entries.credential.intro')}</p>
          {field('credential')}
          {refused === draft.credential && (
            <div>
              <Button isBusy={forcing.isPending} onClick={() => forcing.mutate(draft.credential)}>
                {t('entries.credential.untested')}
              </Button>
            </div>
          )}
        </>
      )}
    </NewForm>
  )
}
