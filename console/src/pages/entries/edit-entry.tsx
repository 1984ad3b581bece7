/** Changes a vendor, a model or a channel by a form that is made from its fields. */
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Form } from '../../ui/form.tsx'
import { OthersChanges, useEdit } from '../../ui/outdated.tsx'
import { announce } from '../../ui/toast.tsx'
import { isOutdated } from '../models/changes.ts'
import { ChangesStep } from './changes-step.tsx'
import { draftOf, patchBetween, titleOf, type Section } from './entry.ts'
import { EntryFields } from './entry-fields.tsx'
import { entryQuery, type FormFacts } from './queries.ts'
import { sendPatch, type Planned } from './requests.ts'

interface EditEntryProps extends FormFacts {
  readonly section: Section
  readonly name: string
}

export function EditEntry({ section, name, declared, lists, onClose }: EditEntryProps) {
  const client = useQueryClient()
  const query = entryQuery(section, name)
  const { data: shown } = useSuspenseQuery(query)
  const fields = declared[section]
  const edit = useEdit({
    read: shown,
    draftOf: ({ entry }) => draftOf(fields, entry),
    readAgain: () => client.fetchQuery(query),
  })
  const [planned, setPlanned] = useState<Planned>()
  const { draft, setDraft, before } = edit
  const { entry, revision } = edit.read
  const change = patchBetween(fields, before, draft)
  const send = (isDryRun: boolean): Promise<Planned> =>
    edit
      .save(sendPatch({ [section]: { [name]: change } }, { revision, isDryRun }))
      .catch((error: unknown) => {
        // The form shows the other operator's change.
        if (error instanceof Error && isOutdated(error)) setPlanned(undefined)
        throw error
      })
  if (planned !== undefined)
    return (
      <ChangesStep
        planned={planned}
        onSave={() => send(false)}
        onBack={() => setPlanned(undefined)}
        onSaved={() => {
          announce(`${name} is changed.`)
          onClose()
        }}
      />
    )
  const { vendor = '' } = draft
  return (
    <Form
      action="Show changes"
      isStep
      isDisabled={Object.keys(change).length === 0}
      onSubmit={() => send(true)}
      onDone={setPlanned}
      onCancel={onClose}
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
            names={{
              vendors: lists.vendors.map((one) => one.name),
              models: lists.models.filter((one) => one.vendor === vendor).map(({ id }) => id),
            }}
          />
        </>
      )}
    </Form>
  )
}
