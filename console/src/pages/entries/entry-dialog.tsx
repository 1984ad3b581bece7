/**
 * Opens a form of the catalogue in a dialog. The forms are a chunk of scripts that the first of them loads;
 * no page needs them to be shown.
 */
import { lazy, Suspense } from 'react'
import { Dialog } from '../../ui/dialog.tsx'
import { Loading } from '../../ui/states.tsx'
import type { Section } from './entry.ts'

export type AskedForm =
  | { readonly kind: 'new channel' }
  | { readonly kind: 'new model' }
  | { readonly kind: 'edit'; readonly section: Section; readonly name: string }
  | { readonly kind: 'credential'; readonly channel: string }

export interface EntryDialogProps {
  readonly asked: AskedForm
  readonly onClose: () => void
}

const EntryForm = lazy(() =>
  import('./entry-form.tsx').then((module) => ({ default: module.EntryForm })),
)

export function EntryDialog(props: EntryDialogProps) {
  const { asked, onClose } = props
  return (
    <Dialog title={titleOf(asked)} isOpen isWide={asked.kind === 'new channel'} onClose={onClose}>
      <Suspense fallback={<Loading rows={6} />}>
        <EntryForm {...props} />
      </Suspense>
    </Dialog>
  )
}

function titleOf(asked: AskedForm): string {
  switch (asked.kind) {
    case 'new channel':
      return 'New channel'
    case 'new model':
      return 'New model'
    case 'credential':
      return `Replace the credential of ${asked.channel}`
    case 'edit':
      return `Edit ${asked.name}`
  }
}
