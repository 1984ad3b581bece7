/** Notes and activity of one account, key or channel, for the page of that thing. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { IconButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { NewForm } from '../../ui/form.tsx'
import { textAreaField } from '../../ui/form-fields.tsx'
import { Split, Stack } from '../../ui/layout.tsx'
import { List } from '../../ui/list/list.tsx'
import { describeFailure, Shown } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { Time } from '../../ui/values.tsx'
import { activityList, Actor } from './action-list.tsx'
import { readActions, readNotes, type Note, type Thing } from './queries.ts'

export function Past({ of }: { of: Thing }) {
  return (
    <>
      <Notes of={of} />
      <Activity of={of} />
    </>
  )
}

/** What operators have done to it. */
function Activity({ of }: { of: Thing }) {
  return (
    <List
      of={activityList}
      list={useList(['actions', of], readActions(of))}
      title={t('audit.activity')}
      hint={t('audit.activityHint')}
    />
  )
}

/** What operators note about it, and a form for another note. */
function Notes({ of }: { of: Thing }) {
  const { rows, error, retry } = useList(['notes', of], readNotes(of))
  const mayAdd = useMay('operator')
  return (
    <Card title={t('audit.notes')} hint={t('audit.notesHint')}>
      <Stack>
        <Shown query={{ data: rows, error, refetch: retry }} rows={1}>
          {(notes) =>
            notes.length === 0 ? (
              <p className="soft">{t('audit.noNotes')}</p>
            ) : (
              notes.map((note) => <OneNote key={note.id} note={note} />)
            )
          }
        </Shown>
        {mayAdd && <AddNote of={of} />}
      </Stack>
    </Card>
  )
}

function OneNote({ note }: { note: Note }) {
  const client = useQueryClient()
  const mayDelete = useMay('operator')
  const deleting = useMutation({
    mutationFn: () =>
      bodyOf(api.DELETE('/admin/v1/notes/{note}', { params: { path: { note: note.id } } })),
    onSuccess: () => announce(t('audit.noteDeleted')),
    onError: (error) => announce(describeFailure(error).title),
    onSettled: () => client.invalidateQueries({ queryKey: ['notes'] }),
  })
  return (
    <Split>
      <div>
        <p className="lines">{note.text}</p>
        <p className="soft">
          <Actor id={note.actor} name={note.actor_name} /> · <Time at={note.created_at} />
        </p>
      </div>
      {mayDelete && (
        <IconButton label={t('audit.deleteNote')} onClick={() => deleting.mutate()}>
          <Trash2 aria-hidden />
        </IconButton>
      )}
    </Split>
  )
}

const fields = { text: textAreaField(t('audit.note'), { isRequired: true, rows: 2 }) }

function AddNote({ of }: { of: Thing }) {
  const [added, setAdded] = useState(0)
  return (
    <NewForm
      key={added}
      fields={fields}
      action={t('audit.addNote')}
      send={({ draft }) =>
        bodyOf(api.POST('/admin/v1/notes', { body: { ...of, text: draft.text } }))
      }
      toast={() => t('audit.noteAdded')}
      refresh={[['notes'], ['actions']]}
      onDone={() => setAdded(added + 1)}
    />
  )
}
