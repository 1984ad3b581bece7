/** The dialog that changes the profile and the limits of an account as it was read. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Outdated, useOutdated } from '../../ui/outdated.tsx'
import { announce } from '../../ui/toast.tsx'
import { changesOf, draftOf, LimitFields, ProfileFields } from './account-fields.tsx'
import { accountQuery, type TaggedAccount } from './queries.ts'

interface EditProps {
  readonly tagged: TaggedAccount
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function EditAccount({ tagged, isOpen, onClose }: EditProps) {
  return (
    <Dialog
      title={`Edit ${tagged.account.name}`}
      hint="Changes act on every gateway within a second."
      isOpen={isOpen}
      onClose={onClose}
    >
      <EditForm tagged={tagged} onClose={onClose} />
    </Dialog>
  )
}

function EditForm({ tagged: shown, onClose }: Omit<EditProps, 'isOpen'>) {
  const client = useQueryClient()
  // The account as it was when the dialog opened: live events must not change it while a person types.
  const [{ account, tag }, setTagged] = useState(shown)
  const before = draftOf(account)
  const [draft, setDraft] = useState(before)
  const outdated = useOutdated()
  const changes = changesOf(draft, before)
  const loadAgain = async (): Promise<void> => {
    const fresh = await client.fetchQuery({ ...accountQuery(account.id), staleTime: 0 })
    setTagged(fresh)
    setDraft(draftOf(fresh.account))
    outdated.clear()
  }
  return (
    <Form
      action="Save"
      isDisabled={Object.keys(changes).length === 0 || outdated.isOutdated}
      onCancel={onClose}
      onSubmit={() =>
        outdated.watch(
          bodyOf(
            api.PATCH('/admin/v1/accounts/{account}', {
              params: { path: { account: account.id }, header: { 'If-Match': tag } },
              body: changes,
            }),
          ),
        )
      }
      onDone={({ name }) => {
        announce(`The account ${name} is changed.`)
        void client.invalidateQueries({ queryKey: ['accounts'] })
        onClose()
      }}
    >
      {(errorOf) => (
        <>
          <ProfileFields draft={draft} onChange={setDraft} errorOf={errorOf} />
          <LimitFields draft={draft} onChange={setDraft} errorOf={errorOf} />
          {outdated.isOutdated && <Outdated onLoad={loadAgain} />}
        </>
      )}
    </Form>
  )
}
