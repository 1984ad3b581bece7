/** The dialog that changes the profile and the limits of an account as it was read. */
import { useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { OthersChanges, useEdit } from '../../ui/outdated.tsx'
import { announce } from '../../ui/toast.tsx'
import { accountLabels, changesOf, draftOf, LimitFields, ProfileFields } from './account-fields.tsx'
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
  const edit = useEdit({
    read: shown,
    draftOf: (tagged) => draftOf(tagged.account),
    readAgain: () => client.fetchQuery({ ...accountQuery(shown.account.id), staleTime: 0 }),
  })
  const { draft, setDraft } = edit
  const { account, tag } = edit.read
  const changes = changesOf(draft, edit.before)
  return (
    <Form
      action="Save"
      isDisabled={Object.keys(changes).length === 0}
      onCancel={onClose}
      onSubmit={() =>
        edit.save(
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
          <OthersChanges edit={edit} labels={accountLabels} />
        </>
      )}
    </Form>
  )
}
