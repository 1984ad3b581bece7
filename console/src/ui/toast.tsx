/** Short messages after something was done. */
import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import { t } from '../messages/t.ts'
import { IconButton } from './button.tsx'

const toasts = Toast.createToastManager()

export function announce(title: string): void {
  toasts.add({ title })
}

export function ToastLayer() {
  return (
    <Toast.Provider toastManager={toasts} timeout={5_000}>
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  const { toasts: shown } = Toast.useToastManager()
  return shown.map((toast) => (
    // A dialog would ask for an answer; the region around it is read aloud.
    <Toast.Root key={toast.id} toast={toast} role="group" aria-modal={undefined} className="toast">
      <Toast.Title className="toast-title" />
      <Toast.Close render={<IconButton label={t('ui.dismiss')} />}>
        <X aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ))
}
