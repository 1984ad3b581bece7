/** Asks before an act that cannot be undone, does it, and says that it is done. */
import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Confirm } from './dialog.tsx'
import { announce } from './toast.tsx'

interface QuestionProps {
  readonly title: string
  /** The verb of the act: "Revoke key". */
  readonly action: string
  readonly act: () => Promise<unknown>
  /** Says what was done. */
  readonly done?: string
  /** The queries that read what it changes. */
  readonly refresh?: readonly QueryKey[]
  /** Says what happens. */
  readonly children: ReactNode
}

interface AskProps extends QuestionProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  /** In place of closing the question. */
  readonly onDone?: () => void
}

export function Ask({ act, done, refresh = [], onClose, onDone = onClose, ...shown }: AskProps) {
  const client = useQueryClient()
  const acting = useMutation({
    mutationFn: act,
    onSuccess() {
      if (done !== undefined) announce(done)
      onDone()
    },
    onSettled: () => Promise.all(refresh.map((queryKey) => client.invalidateQueries({ queryKey }))),
  })
  return (
    <Confirm
      {...shown}
      isBusy={acting.isPending}
      error={acting.error}
      onConfirm={() => acting.mutate()}
      onClose={() => {
        acting.reset()
        onClose()
      }}
    />
  )
}

/** A button with a question behind it. */
export function AskButton({ text, ...question }: QuestionProps & { readonly text: string }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{text}</Button>
      <Ask {...question} isOpen={isOpen} onClose={() => setIsOpen(false)} />
    </>
  )
}
