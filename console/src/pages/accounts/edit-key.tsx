/** The dialog that changes a key as it was read when the dialog opened. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { OthersChanges, useEdit } from '../../ui/outdated.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { keyChangesOf, keyDraftOf, KeyFields, type KeyDraft } from './key-fields.tsx'
import { keyQuery, type Key } from './queries.ts'

interface EditKeyProps {
  readonly id: string
  readonly name: string
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function EditKey({ id, name, isOpen, onClose }: EditKeyProps) {
  return (
    <Dialog
      title={`Edit ${name}`}
      hint="Changes act on every gateway within a second."
      isOpen={isOpen}
      onClose={onClose}
    >
      <ReadKey id={id} onClose={onClose} />
    </Dialog>
  )
}

function ReadKey({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error, refetch } = useQuery(keyQuery(id))
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading rows={6} />
  return <EditKeyForm read={data} onClose={onClose} />
}

interface TaggedKey {
  readonly key: Key
  readonly tag: string
}

const labels: Readonly<Record<keyof KeyDraft, string>> = {
  name: 'Name',
  daily_usd: 'Budget per day',
  monthly_usd: 'Budget per month',
  total_usd: 'Total budget',
  rpm: 'Requests per minute',
  tpm: 'Tokens per minute',
  models: 'Models',
  ip: 'Addresses',
  expires: 'Expires',
}

function EditKeyForm({ read, onClose }: { read: TaggedKey; onClose: () => void }) {
  const client = useQueryClient()
  const edit = useEdit({
    read,
    draftOf: (tagged) => keyDraftOf(tagged.key),
    readAgain: () => client.fetchQuery({ ...keyQuery(read.key.id), staleTime: 0 }),
  })
  const { draft, setDraft } = edit
  const { key, tag } = edit.read
  const changes = keyChangesOf(draft, edit.before)
  return (
    <Form
      action="Save"
      isDisabled={Object.keys(changes).length === 0}
      onCancel={onClose}
      onSubmit={() =>
        edit.save(
          bodyOf(
            api.PATCH('/admin/v1/keys/{id}', {
              params: { path: { id: key.id }, header: { 'If-Match': tag } },
              body: changes,
            }),
          ),
        )
      }
      onDone={() => {
        announce('The key is changed.')
        void client.invalidateQueries({ queryKey: ['keys'] })
        onClose()
      }}
    >
      {(errorOf) => (
        <>
          <KeyFields draft={draft} onChange={setDraft} errorOf={errorOf} />
          <OthersChanges edit={edit} labels={labels} />
        </>
      )}
    </Form>
  )
}
