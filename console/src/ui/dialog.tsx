/** Dialogs: one to fill in, one that asks before something that cannot be undone. */
import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { useContext, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { t } from '../messages/t.ts'
import { Button, IconButton } from './button.tsx'
import { Notice } from './card.tsx'
import { describeFailure } from './states.tsx'
import { DialogContext, LeaveGuardContext, watchTyping, type Loss } from './typed.ts'

interface DialogProps {
  readonly title: string
  readonly hint?: ReactNode
  readonly isOpen: boolean
  readonly onClose: () => void
  /** For tables and diffs. */
  readonly isWide?: boolean
  readonly children: ReactNode
}

/** What a person has typed into its fields is not dropped without a question. */
export function Dialog({ isOpen, ...props }: DialogProps) {
  return isOpen ? <OpenDialog {...props} /> : null
}

function OpenDialog({
  title,
  hint,
  onClose,
  isWide = false,
  children,
}: Omit<DialogProps, 'isOpen'>) {
  const [typed] = useState(watchTyping)
  const [isAsking, setIsAsking] = useState(false)
  const [isHeld, hold] = useState(false)
  const popup = useRef<HTMLDivElement>(null)
  const findFocusBefore = useFocusBefore()
  const guardOf = useContext(LeaveGuardContext)
  const askOrClose = (): void => {
    if (isHeld) return
    if (typed.isTyped()) setIsAsking(true)
    else onClose()
  }
  const latest = useRef(askOrClose)
  useLayoutEffect(() => {
    latest.current = askOrClose
  })
  const { forget, setTyped } = typed
  const dialog = useMemo(
    () => ({ forget, setTyped, hold, close: () => latest.current() }),
    [forget, setTyped],
  )
  return (
    <Base.Root open onOpenChange={(open) => !open && askOrClose()}>
      <Base.Portal>
        <Base.Backdrop className="dialog-backdrop" />
        <Base.Popup
          ref={popup}
          initialFocus={() => firstFocus(popup.current)}
          finalFocus={findFocusBefore}
          className={isWide ? 'dialog dialog-wide' : 'dialog'}
          onFocusCapture={typed.onFocus}
          onInputCapture={typed.onInput}
        >
          <header className="dialog-head">
            <Base.Title className="dialog-title">{title}</Base.Title>
            {!isHeld && (
              <Base.Close render={<IconButton label={t('ui.close')} />}>
                <X aria-hidden />
              </Base.Close>
            )}
          </header>
          {hint !== undefined && <Base.Description className="soft">{hint}</Base.Description>}
          <DialogContext value={dialog}>{children}</DialogContext>
        </Base.Popup>
      </Base.Portal>
      {guardOf?.(() => (isHeld ? 'secret' : typed.isTyped() ? 'typed' : undefined))}
      <Discard
        loss="typed"
        isOpen={isAsking}
        onConfirm={() => {
          typed.forget()
          onClose()
        }}
        onClose={() => setIsAsking(false)}
      />
    </Base.Root>
  )
}

/** Returns what had the focus before; where that is gone, as an item of a menu is, the page. */
function useFocusBefore(): () => HTMLElement | null {
  const [before] = useState(() => document.activeElement)
  return () =>
    before instanceof HTMLElement && before.isConnected && before !== document.body
      ? before
      : document.getElementById('content')
}

/** While the component is shown, only its own button closes the dialog around it. */
export function useHoldOpen(): void {
  const hold = useContext(DialogContext)?.hold
  useLayoutEffect(() => {
    hold?.(true)
    return () => hold?.(false)
  }, [hold])
}

/** The first field rather than *Close*; a field that asked for the focus keeps it. */
function firstFocus(popup: HTMLElement | null): HTMLElement | null {
  const active = document.activeElement
  if (active instanceof HTMLElement && popup?.contains(active) === true) return active
  return popup?.querySelector<HTMLElement>('input, textarea, [role=combobox]') ?? popup
}

interface DiscardProps {
  readonly loss: Loss
  readonly isOpen: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before what was typed, or a secret, is dropped. */
export function Discard({ loss, ...props }: DiscardProps) {
  return (
    <Confirm
      title={t(`ui.loss.${loss}`)}
      action={t('ui.loss.discard')}
      cancel={t(`ui.loss.${loss}Cancel`)}
      isBusy={false}
      {...props}
    >
      {t(`ui.loss.${loss}Text`)}
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

export function Confirm({ isOpen, ...props }: ConfirmProps) {
  return isOpen ? <OpenConfirm {...props} /> : null
}

function OpenConfirm(props: Omit<ConfirmProps, 'isOpen'>) {
  const {
    title,
    children,
    action,
    cancel = t('ui.cancel'),
    isBusy,
    error,
    onConfirm,
    onClose,
  } = props
  const findFocusBefore = useFocusBefore()
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="dialog-backdrop" />
        <AlertDialog.Popup className="dialog" finalFocus={findFocusBefore}>
          <AlertDialog.Title className="dialog-title">{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />}>{children}</AlertDialog.Description>
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
