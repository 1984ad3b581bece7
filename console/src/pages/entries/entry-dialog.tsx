/**
 * Opens a form of the catalogue in a dialog. The forms are a chunk of scripts that the first of them loads;
 * no page needs them to be shown.
 */
import { lazy, Suspense, useState, type ComponentProps } from 'react'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loading } from '../../ui/states.tsx'
import type { Section } from './entry.ts'

export type AskedForm =
  | { readonly kind: 'new channel' }
  | { readonly kind: 'new model' }
  | { readonly kind: 'edit'; readonly section: Section; readonly name: string }
  | { readonly kind: 'credential'; readonly channel: string }
  | { readonly kind: 'price'; readonly model: string }

const EntryForm = lazy(() =>
  import('./forms.tsx').then(({ EntryForm: form }) => ({ default: form })),
)

export function EntryDialog({ asked, onClose }: { asked: AskedForm; onClose: () => void }) {
  const isWide = asked.kind === 'new channel' || asked.kind === 'edit'
  return (
    <Dialog title={titleOf(asked)} isOpen isWide={isWide} onClose={onClose}>
      <Suspense fallback={<Loading rows={6} />}>
        <EntryForm asked={asked} />
      </Suspense>
    </Dialog>
  )
}

interface EntryButtonProps extends Pick<ComponentProps<typeof Button>, 'look' | 'children'> {
  readonly asked: AskedForm
}

/** A button that opens a form; nothing for a person who may not change the catalogue. */
export function EntryButton({ asked, ...button }: EntryButtonProps) {
  const mayChange = useMay('owner')
  const [isOpen, setIsOpen] = useState(false)
  if (!mayChange) return null
  return (
    <>
      <Button {...button} onClick={() => setIsOpen(true)} />
      {isOpen && <EntryDialog asked={asked} onClose={() => setIsOpen(false)} />}
    </>
  )
}

function titleOf(asked: AskedForm): string {
  switch (asked.kind) {
    case 'new channel':
      return t('entries.channel.new')
    case 'new model':
      return t('entries.model.new')
    case 'credential':
      return t('entries.credential.title', { channel: asked.channel })
    case 'price':
      return t('models.price.title', { model: asked.model })
    case 'edit':
      return t('entries.edit.title', { name: asked.name })
  }
}
