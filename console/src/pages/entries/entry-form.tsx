/** The form that is asked for, with what the forms of entries read first. */
import { useSuspenseQuery } from '@tanstack/react-query'
import { fieldsQuery } from '../models/queries.ts'
import { Credential } from './credential.tsx'
import { EditEntry } from './edit-entry.tsx'
import type { AskedForm, EntryDialogProps } from './entry-dialog.tsx'
import { NewChannel } from './new-channel.tsx'
import { NewModel } from './new-model.tsx'
import { catalogueListQuery } from './queries.ts'
import './entries.css'

export function EntryForm({ asked, onClose }: EntryDialogProps) {
  if (asked.kind === 'credential') return <Credential channel={asked.channel} onClose={onClose} />
  return <CatalogueForm asked={asked} onClose={onClose} />
}

interface CatalogueFormProps extends EntryDialogProps {
  readonly asked: Exclude<AskedForm, { kind: 'credential' }>
}

function CatalogueForm({ asked, onClose }: CatalogueFormProps) {
  const { data: declared } = useSuspenseQuery(fieldsQuery)
  const { data: lists } = useSuspenseQuery(catalogueListQuery)
  const facts = { declared, lists, onClose }
  switch (asked.kind) {
    case 'new channel':
      return <NewChannel {...facts} />
    case 'new model':
      return <NewModel {...facts} />
    case 'edit':
      return <EditEntry {...facts} section={asked.section} name={asked.name} />
  }
}
