/** Dialogs: one to fill in, one that asks before something that cannot be undone. */
import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { createContext, useContext, useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { Button, IconButton } from './button.tsx'
import { describeFailure } from './states.tsx'
import { Notice } from './card.tsx'
import { LeaveGuardContext, TypedContext, watchTyping, type Loss } from './typed.ts'
import './dialog.css'

interface DialogProps {
  readonly title: string
  readonly hint?: ReactNode
  readonly isOpen: boolean
  readonly onClose: () => void
  /** For tables and diffs. */
  readonly isWide?: boolean
  readonly children: ReactNode
}

/** Gives the focus back to the element that had it before; where that is gone, as in a menu, to the page. */
function useFocusReturn(isOpen: boolean): void {
  useLayoutEffect(() => {
    if (!isOpen) return undefined
    const before = document.activeElement
    return () => {
      // Base UI first has to let go of the focus.
      setTimeout(() => {
        if (document.querySelector('[role=dialog], [role=alertdialog]') !== null) return
        const isThere = before instanceof HTMLElement && before.isConnected
        const next = isThere ? before : document.getElementById('content')
        next?.focus({ preventScroll: true })
      })
    }
  }, [isOpen])
}

const HoldOpenContext = createContext<((isHeld: boolean) => void) | null>(null)

/** While the component is shown, only its own button closes the dialog around it. */
export function useHoldOpen(): void {
  const hold = useContext(HoldOpenContext)
  useLayoutEffect(() => {
    hold?.(true)
    return () => hold?.(false)
  }, [hold])
}

/** The first field rather than *Close*; a field that asked for the focus keeps it. */
function firstFocus(popup: HTMLElement | null): HTMLElement | null {
  const active = document.activeElement
  if (active instanceof HTMLElement && popup?.contains(active) === true) return active
  return popup?.querySelector<HTMLElement>('input, select, textarea') ?? popup
}

/** What a person has typed into its fields is not dropped without a question. */
export function Dialog({ title, hint, isOpen, onClose, isWide = false, children }: DialogProps) {
  useFocusReturn(isOpen)
  const [typed] = useState(watchTyping)
  const [isAsking, setIsAsking] = useState(false)
  const [isHeld, setIsHeld] = useState(false)
  const popup = useRef<HTMLDivElement>(null)
  const guardOf = useContext(LeaveGuardContext)
  useLayoutEffect(() => (isOpen ? typed.forget : undefined), [isOpen, typed])
  const askOrClose = (): void => {
    if (isHeld) return
    if (typed.isTyped()) setIsAsking(true)
    else onClose()
  }
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && askOrClose()}>
      <Base.Portal>
        <Base.Backdrop className="dialog-backdrop" />
        <Base.Popup
          ref={popup}
          initialFocus={() => firstFocus(popup.current)}
          className={isWide ? 'dialog dialog-wide' : 'dialog'}
          onFocusCapture={typed.onFocus}
          onInputCapture={typed.onInput}
        >
          <header className="dialog-head">
            <Base.Title className="dialog-title">{title}</Base.Title>
            {!isHeld && (
              <Base.Close render={<IconButton label="Close" />}>
                <X aria-hidden />
              </Base.Close>
            )}
          </header>
          {hint !== undefined && (
            <Base.Description className="soft dialog-hint">{hint}</Base.Description>
          )}
          <HoldOpenContext value={setIsHeld}>
            <TypedContext value={typed}>{children}</TypedContext>
          </HoldOpenContext>
        </Base.Popup>
      </Base.Portal>
      {isOpen && guardOf?.(() => (isHeld ? 'secret' : typed.isTyped() ? 'typed' : undefined))}
      <Discard
        loss="typed"
        isOpen={isAsking}
        onConfirm={() => {
          setIsAsking(false)
          typed.forget()
          onClose()
        }}
        onClose={() => setIsAsking(false)}
      />
    </Base.Root>
  )
}

const lossTexts: Readonly<Record<Loss, readonly [title: string, text: string]>> = {
  typed: ['Discard what you have typed?', 'It is not saved.'],
  secret: ['Leave without the secret?', 'It is not shown again: copy or download it first.'],
}

interface DiscardProps {
  readonly loss: Loss
  readonly isOpen: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before what was typed, or a secret, is dropped. */
export function Discard({ loss, ...props }: DiscardProps) {
  const [title, text] = lossTexts[loss]
  return (
    <Confirm
      title={title}
      action="Discard"
      cancel={loss === 'typed' ? 'Keep editing' : 'Stay'}
      isBusy={false}
      {...props}
    >
      {text}
    </Confirm>
  )
}

interface ConfirmProps {
  readonly title: string
  /** Says what happens, and what cannot be undone. */
  readonly children: ReactNode
  /** The verb of the action: "Revoke key". */
  readonly action: string
  /** In place of "Cancel". */
  readonly cancel?: string
  readonly isOpen: boolean
  readonly isBusy: boolean
  readonly error?: unknown
  readonly onConfirm: () => void
  readonly onClose: () => void
}

export function Confirm(props: ConfirmProps) {
  const { title, children, action, cancel = 'Cancel' } = props
  const { isOpen, isBusy, error, onConfirm, onClose } = props
  useFocusReturn(isOpen)
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="dialog-backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title className="dialog-title">{title}</AlertDialog.Title>
          <AlertDialog.Description className="dialog-hint" render={<div />}>
            {children}
          </AlertDialog.Description>
          {error !== undefined && error !== null && (
            <Notice tone="bad">{describeFailure(error).title}</Notice>
          )}
          <footer className="dialog-foot">
            <AlertDialog.Close render={<Button />}>{cancel}</AlertDialog.Close>
            <Button look="danger" isBusy={isBusy} onClick={onConfirm}>
              {action}
            </Button>
          </footer>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
