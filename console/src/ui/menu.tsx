/** A button that opens a list of actions. */
import { Menu as Base } from '@base-ui/react/menu'
import { Ellipsis, type LucideIcon } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import { IconButton } from './button.tsx'

interface MenuItem {
  readonly Icon?: LucideIcon
  readonly text: ReactNode
  readonly onSelect: () => void
  readonly isDanger?: boolean
  readonly isDisabled?: boolean
}

export interface MenuProps {
  /** The name of the button. */
  readonly label: string
  readonly items: readonly MenuItem[]
  /** In place of three dots. */
  readonly trigger?: ReactElement
  readonly head?: ReactNode
}

export function Menu({ label, items, trigger, head }: MenuProps) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger
        render={
          trigger ?? (
            <IconButton label={label}>
              <Ellipsis aria-hidden />
            </IconButton>
          )
        }
      />
      <Base.Portal>
        <Base.Positioner align="end" sideOffset={6} className="menu-place">
          <Base.Popup className="menu">
            {head !== undefined && <div className="menu-head">{head}</div>}
            {items.map(({ Icon, text, onSelect, isDanger = false, isDisabled = false }, index) => (
              <Base.Item
                key={index}
                className={isDanger ? 'menu-item bad' : 'menu-item'}
                disabled={isDisabled}
                onClick={onSelect}
              >
                {Icon !== undefined && <Icon aria-hidden />}
                {text}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
